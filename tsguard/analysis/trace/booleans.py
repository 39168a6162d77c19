"""``mask == True``, ``torch.full(n, False)``: a bool where torch takes a number, for which a trace has no operator.

Observed of each operator: one that takes a scalar refuses it while tracing, one that makes a tensor of it at the
first call of the trace.  What changes its operand in place does neither, and no more does a quotient rounded down.
"""

from __future__ import annotations

import ast
from typing import TypeGuard

from tsguard.analysis import values as py
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.values import Fixed, Number, is_symbolic
from tsguard.language import types as t
from tsguard.language.schemas import Argument, Schema

_WITH_TENSORS = frozenset({"add", "mul", "multiply", "div", "divide", "true_divide"})
_TAKEN_IN_PLACE = frozenset(f"{name}_" for name in _WITH_TENSORS) | {"floor_divide", "floor_divide_"}
_OPERATORS = (ast.Add, ast.Mult, ast.Div, ast.Mod, ast.Pow, ast.BitAnd, ast.BitOr, ast.BitXor)
_OPERATORS_IN_PLACE = (ast.Mod, ast.Pow, ast.BitAnd, ast.BitOr, ast.BitXor)


def given(tracer: Tracer, schema: Schema, argument: Argument, value: py.Value, node: ast.AST) -> None:
    """Report a bool that an operator is given for a number."""
    if not is_bool(value) or schema.name in _TAKEN_IN_PLACE or argument.name == "alpha":
        return
    is_tensor = schema.name in _WITH_TENSORS and argument.name == "other"
    if is_tensor or argument.type in (t.NUMBER, t.OptionalType(t.NUMBER)):
        tracer.report("untraceable-call/bool", node)


def calculated(tracer: Tracer, op: ast.operator, left: py.Value, right: py.Value, node: ast.AST) -> None:
    """Report ``tensor * True``."""
    in_place = isinstance(node, ast.AugAssign)
    if isinstance(op, _OPERATORS_IN_PLACE if in_place else _OPERATORS):
        compared(tracer, left, right, node)


def counted(tracer: Tracer, op: ast.operator, left: py.Value, right: py.Value, node: ast.AST) -> None:
    """Report ``size + True``, and sums of truths: a size is a tensor while torch traces, its comparison one of bools."""
    truths = [value for value in (left, right) if _is_truth(value)]
    if truths and (isinstance(op, ast.Sub) or (isinstance(op, ast.Add) and len(truths) == 2)):
        tracer.report("unsupported-on-size/truth", node, truths[0].origin)
    if is_symbolic(left) or is_symbolic(right):
        if isinstance(op, ast.Sub):
            compared(tracer, left, right, node)
        calculated(tracer, op, left, right, node)


def compared(tracer: Tracer, left: py.Value, right: py.Value, node: ast.AST) -> None:
    """Report ``tensor == True``."""
    if is_bool(left) or is_bool(right):
        tracer.report("untraceable-call/bool", node)


def is_still_truth(op: ast.operator, left: py.Value, right: py.Value) -> bool:
    """``0 + (n > 4)``, ``(n > 4) * 1``: torch takes that for the truth itself when it simplifies a trace."""
    neutral = py.Const(0) if isinstance(op, ast.Add) else py.Const(1)
    pairs = ((left, right), (right, left)) if isinstance(op, (ast.Add, ast.Mult)) else ()
    return any(one == neutral and _is_truth(other) for one, other in pairs)


def _is_truth(value: py.Value) -> TypeGuard[Number]:
    """Whether a value is a comparison of sizes that is open."""
    return isinstance(value, Number) and value.live and value.hint == "bool" and value.known is None


def is_bool(value: py.Value) -> bool:
    """Whether a value is Python's True or False, while torch traces."""
    if isinstance(value, Fixed):
        return value.hint == "bool"
    return isinstance(value, py.Const) and isinstance(value.value, bool)
