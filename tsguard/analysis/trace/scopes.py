"""What modules compute inside of an ``autograd.Function``: a trace does not find it outside of the module.

The operations that run in the forward of such a function are recorded, and then the one operation that stands
for all of them.  What a submodule of the target has computed there is of the scope of that module; the tracer
hands it on to another scope only where it knows the call of the module, which it does not inside of a function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tsguard.analysis import values as py
from tsguard.analysis.python import ancestry
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.values import parts

_IDENTITY = py.External("torch.nn.Identity")


def crosses(tracer: Tracer, run: Callable[[], py.Value]) -> bool:
    """Whether the forward of a function, which ``run`` follows, computes with what a module in it has computed."""
    before, crossed = tracer.scopes, tracer.crossed
    tracer.scopes, tracer.crossed = [[]], False
    try:
        result = run()
        return tracer.crossed or _is_computed_of(tracer.scopes[0], [], result)
    finally:
        tracer.scopes, tracer.crossed = before, crossed


def within(
    tracer: Tracer, module: py.ModuleValue, given: Iterable[py.Value], run: Callable[[], py.Value]
) -> py.Value:
    """Call a module: inside of a function, note what it computes, and what of."""
    if not tracer.scopes or id(module) not in tracer.state.registered:
        return run()  # a module that is no part of the target has no scope of its own
    taken = _tensors(given)
    if _does_nothing(tracer, module) and len(taken) == 1:
        run()
        return taken[0]
    outside = tracer.scopes[-1]
    tracer.scopes.append([])
    try:
        result = run()
    finally:
        inside = tracer.scopes.pop()
    computed = [made for made in _tensors([result]) if not _is_among(made, taken)]
    is_given_computed = any(_is_among(value, outside) for value in taken)
    if _is_computed_of(inside, taken, result) or (computed and is_given_computed):
        tracer.crossed = True
    outside.extend(computed)
    return result


def _does_nothing(tracer: Tracer, module: py.ModuleValue) -> bool:
    return not module.hooks and next(iter(ancestry.mro(tracer, module.cls)), None) == _IDENTITY


def _is_computed_of(made: list[py.Value], taken: list[py.Value], result: py.Value) -> bool:
    """Whether code that called modules computes something itself, after what those have made."""
    own = [
        value for value in _tensors([result]) if not _is_among(value, made) and not _is_among(value, taken)
    ]
    return bool(made and own)


def _tensors(values: Iterable[py.Value]) -> list[py.Value]:
    return [part for part in parts(values) if isinstance(part, py.TensorValue)]


def _is_among(value: py.Value, others: Iterable[py.Value]) -> bool:
    return any(value is other for other in others)
