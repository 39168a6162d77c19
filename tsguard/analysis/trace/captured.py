"""What code inside of an ``autograd.Function`` computes with that it is not given.

Such a function is one operation of the trace, which takes the tensors that the function is called with and calls
its code anew each time.  Of what that code has from anywhere else, a closure or a tuple, the tracer does not find
how it was computed, and raises; what it makes an int of stays as it is for the example.
The operation is printed with its other arguments, functions by their address: with one that each call makes anew
the graphs of two traces differ, which torch.jit.trace, as it checks them, refuses.
Source: ``_trace_pre_record`` in torch/csrc/autograd/python_function.cpp, ``printPyObject`` in
torch/csrc/jit/python/python_ir.cpp, and runs on torch 2.13.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from tsguard.analysis import values as py
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.origins import Origin
from tsguard.analysis.trace.values import NOWHERE, Number, Opaque, Shape, Traced, parts
from tsguard.report.records import replace

Args = list[py.Value]
T = TypeVar("T")


def run_inside(tracer: Tracer, args: Args, run: Callable[[Args], T]) -> tuple[T, bool]:
    """What ``run`` makes of the arguments of such a function, and whether it computed with something else of the trace."""
    before = tracer.given_inside, tracer.is_captured
    given = list(map(_given, args))
    tracer.given_inside = [value.origin for value in given if isinstance(value, (Traced, Number, Opaque))]
    tracer.is_captured = False
    try:
        return run(given), tracer.is_captured
    finally:
        tracer.given_inside, tracer.is_captured = before


def _given(value: py.Value) -> py.Value:
    """An argument, of which all that the function computes begins anew."""
    if isinstance(value, (Traced, Number, Opaque)) and value.origin is not NOWHERE:
        return replace(value, origin=Origin(value.origin.root.name))
    return value


def computed_with(tracer: Tracer, value: py.Value) -> None:
    """Note a value that is used inside of such a function if it is of the inputs, and of none of its arguments."""
    if tracer.given_inside is None or not isinstance(value, (Traced, Number, Opaque, Shape)):
        return
    if value.origin is NOWHERE or (isinstance(value, Traced) and value.of != "inputs"):
        return
    root = value.origin.root
    if not any(root is given for given in tracer.given_inside):
        tracer.is_captured = True


def is_made_anew(tracer: Tracer, values: Iterable[py.Value]) -> bool:
    """Whether among arguments is a function that the code which is traced defines in each call."""
    return any(_is_defined_inside(tracer, value) for value in parts(values))


def _is_defined_inside(tracer: Tracer, value: py.Value) -> bool:
    if isinstance(value, py.Partial):
        return is_made_anew(tracer, [value.function, *value.args, *value.kwargs.values()])
    if not isinstance(value, py.FunctionValue):
        return False
    scope: py.Scope | None = value.scope
    while scope is not None:
        if scope.function is not None and scope.function.node in tracer.ran_code:
            return "cached" not in scope.function.marks
        scope = scope.parent
    return False
