"""What asks for the type of a value: a size is a tensor while torch traces, and a number in eager."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tsguard.analysis import values as py
from tsguard.analysis.export import sizes, types
from tsguard.analysis.python import type_tests
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.values import Either, Fixed, Number, Opaque, Shape, Traced, Untraced
from tsguard.source.walking import walked

Args = list[py.Value]
Kwargs = dict[str, py.Value]
Handler = Callable[[Tracer, Args, Kwargs, ast.AST], "py.Value | None"]

_TENSORS = frozenset({"torch.Tensor", "torch.autograd.Variable", "torch.autograd.variable.Variable"})
_PARAMETERS = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})


def _isinstance(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """A size is a tensor while tracing, and an int in eager."""
    value = args[0] if args else py.NONE
    wanted = args[1].items if len(args) > 1 and isinstance(args[1], py.TupleValue) else args[1:]
    names = {c.name for c in wanted if isinstance(c, py.External)}
    if isinstance(value, Traced):
        own = _TENSORS | _PARAMETERS if value.role == "parameter" else _TENSORS
        if not names.isdisjoint(own) or any(map(type_tests.includes_tensors, names)):
            return py.TRUE
        unread = [cls for cls in wanted if isinstance(cls, py.Unknown) and cls.unread is not None]
        for cls in unread:
            tracer.unread(cls, node)
        return py.FALSE if len(names) + len(unread) == len(wanted) else None
    if isinstance(value, Number) and value.live and len(names) == len(wanted):
        is_tensor = "torch.Tensor" in names or any(map(type_tests.includes_tensors, names))
        is_number = any(map(type_tests.includes_numbers, names))
        tracer.asks_for_run = True
        if tracer.is_export:
            if is_number and "torch.SymInt" not in names and _raises_unless_so(tracer.statement):
                sizes.wanted(tracer, "lost-size/type", args[:1], node)
            return py.Const(is_number)
        if is_tensor != is_number:
            return Fixed(None, "bool", py.Const(is_tensor), origin=value.origin, about="tracing")
        return py.Const(is_tensor)
    if isinstance(value, Shape):
        return py.Const(bool(names & {"torch.Size", "builtins.tuple"}))
    if isinstance(value, Either) and len(args) > 1:
        answers = {type_tests.is_one_of(tracer, option, args[1]) for option in value.options}
        answer = answers.pop() if len(answers) == 1 else None
        return py.Unknown(None, "bool") if answer is None else py.Const(answer)
    if isinstance(value, (Opaque, Fixed, Untraced, Number)):
        return py.Unknown(None, "bool")
    return None


def _raises_unless_so(statement: ast.AST | None) -> bool:
    """``assert isinstance(n, int)``, ``if not isinstance(n, int): raise ...``."""
    if isinstance(statement, ast.Assert):
        return True
    return (
        isinstance(statement, ast.If)
        and isinstance(statement.body[-1], ast.Raise)
        and any(isinstance(p, ast.UnaryOp) and isinstance(p.op, ast.Not) for p in walked(statement.test))
    )


def _hasattr(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """What only tensors have, sizes have while torch traces."""
    value = args[0] if len(args) == 2 else py.NONE
    name = py.constant(args[1]) if len(args) == 2 else None
    if not isinstance(value, Number) or not value.live or not isinstance(name, str) or tracer.is_export:
        return None
    tracer.asks_for_run = True
    is_there = name in tracer.tables.tensor
    if is_there is hasattr(int, name):
        return py.Const(is_there)
    return Fixed(None, "bool", py.Const(is_there), origin=value.origin, about="tracing")


def _type(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """``type(n)`` of a size is ``torch.Tensor`` while tracing, as that of an input is."""
    value = args[0] if len(args) == 1 else py.NONE
    if isinstance(value, py.TensorValue):
        return types.class_of(tracer, value, node)
    if not isinstance(value, Number) or not value.live:
        return None
    tracer.asks_for_run = True
    if tracer.is_export:
        return py.External("builtins.int")
    return Fixed(None, "", py.External("torch.Tensor"), origin=value.origin, about="tracing")


HANDLERS: dict[str, Handler] = {
    "builtins.isinstance": _isinstance,
    "builtins.hasattr": _hasattr,
    "builtins.type": _type,
}
