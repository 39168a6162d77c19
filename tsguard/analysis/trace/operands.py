"""Operands of ``and`` and ``or`` that decide whatever stands before them: ``n > 1 and mask is None and causal``."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tsguard.analysis import values as py
from tsguard.analysis.python import operations
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.values import Scope


def settle(tracer: Tracer, operands: Sequence[ast.expr], scope: Scope, *, is_or: bool) -> bool:
    """Whether one of some operands decides whatever sizes those before it compare: ``n == 1 and False``.

    They are looked up, not evaluated: an operand before one may keep it from being asked, or give it its value.
    """
    return any(_truth(tracer, operand, scope) is is_or for operand in operands)


def is_result(last: py.Value, possible: py.Value, *, is_or: bool) -> bool:
    """Whether the last operand is the result whatever an open truth before it is: ``found and False``."""
    is_truth = type(possible) is py.Unknown and possible.hint == "bool"
    return is_truth and isinstance(last, py.Const) and last.value is is_or


def _truth(tracer: Tracer, node: ast.expr, scope: Scope) -> bool | None:
    """The truth of a setting, of its opposite, or of whether it is None; None where that is not told."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        found = _truth(tracer, node.operand, scope)
        return None if found is None else not found
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Is, ast.IsNot)):
        found = _is_none(tracer, node, scope)
        return None if found is None else found is isinstance(node.ops[0], ast.Is)
    value = _held_at(tracer, node, scope)
    known = None if value is None else operations.default_of(tracer.settled(value))
    return known.value if isinstance(known, py.Const) and isinstance(known.value, bool) else None


def _is_none(tracer: Tracer, node: ast.Compare, scope: Scope) -> bool | None:
    """Whether what is compared with ``None`` is that."""
    other = node.comparators[0]
    held = _held_at(tracer, node.left, scope)
    if held is None or len(node.ops) > 1 or not isinstance(other, ast.Constant) or other.value is not None:
        return None
    value = tracer.settled(held)
    return None if isinstance(value, py.Unknown) else py.is_none(value)


def _held_at(tracer: Tracer, node: ast.expr, scope: Scope) -> py.Value | None:
    """What a name stands for, or an attribute that an object holds; None where code may run to tell."""
    if isinstance(node, ast.Constant):
        return py.Const(node.value)
    if isinstance(node, ast.Name):
        return tracer.lookup(node.id, scope)
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return None
    owner = tracer.lookup(node.value.id, scope)
    return owner.attributes.get(node.attr) if isinstance(owner, py.ObjectValue) else None
