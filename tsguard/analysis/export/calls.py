"""Functions of torch that need data, or that torch.export cannot follow."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.export.reports import report
from tsguard.analysis.python import library
from tsguard.analysis.trace.values import Number, Traced, parts

if TYPE_CHECKING:
    from tsguard.analysis.trace.context import Tracer

_ANSWERED_BY_DATA = frozenset({"equal", "allclose", "is_nonzero", "data_ptr"})
_MADE_OF_VALUES = frozenset(
    {"tensor", "as_tensor", "Tensor", "FloatTensor", "LongTensor", "BoolTensor", "IntTensor"}
)
# Methods that put other parameters into a module: torch.export has put its own there.
_MOVING = frozenset({"to", "half", "float", "double", "bfloat16", "cuda", "cpu", "type", "to_empty"})

Args = list[py.Value]
Kwargs = dict[str, py.Value]


def called(tracer: Tracer, name: str, args: Args, kwargs: Kwargs, node: ast.AST) -> None:
    """A function or method of torch is called; ``args`` begin with the tensor of a method."""
    owner, _, short = name.rpartition(".")
    first = args[0] if args else py.NONE
    if short in _ANSWERED_BY_DATA:
        if isinstance(first, Traced):
            report(tracer, "data-call", node, first.origin, function=short)
    elif short == "one_hot":
        count = args[1] if len(args) > 1 else kwargs.get("num_classes", py.Const(-1))
        if isinstance(first, Traced) and py.constant(count) == -1:
            report(tracer, "data-call/classes", node, first.origin)
    elif short in _MADE_OF_VALUES and isinstance(first, (py.ListValue, py.TupleValue)):
        held = next((value for value in parts([first]) if isinstance(value, Traced)), None)
        if held is not None:
            report(tracer, "data-call/elements", node, held.origin)
    elif short == "chunk":
        if any(isinstance(value, Number) and value.unbacked for value in args[1:2]):
            report(tracer, "data-number/index", node)
    elif owner.startswith("torch.distributions") and short[:1].isupper() and _validates(kwargs):
        report(tracer, "data-call/distribution", node, function=short)


def _validates(kwargs: Kwargs) -> bool:
    return py.constant(kwargs.get("validate_args", py.NONE)) is not False


def recurrent(tracer: Tracer, given: py.Value, node: ast.AST) -> None:
    """An LSTM, GRU or RNN of torch is called: a packed sequence has its batch sizes as data."""
    if isinstance(given, py.TupleValue):
        report(tracer, "data-call/packed", node)


def of_module(tracer: Tracer, name: str, module: py.ModuleValue, node: ast.AST | None) -> None:
    """A method of torch.nn.Module is called while the forward runs."""
    if name in _MOVING and _has_parameters(module):
        report(tracer, "moved-module", node)


def scripted(tracer: Tracer, module: py.ModuleValue, node: ast.AST | None) -> None:
    """A module that torch.jit has compiled is called; one that was traced goes well."""
    if not module.traced:
        report(tracer, "scripted-module", node)


def layer(tracer: Tracer, name: str, node: ast.AST) -> None:
    """A layer of torch is called."""
    if ".Lazy" in name:
        report(tracer, "moved-module/lazy", node)


def _has_parameters(module: py.ModuleValue) -> bool:
    return any(part.parameters for _, part in library.descendants(module))
