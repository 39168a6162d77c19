"""``int | None``: classes of which ``isinstance`` is given several, as a tuple of them."""

from __future__ import annotations

import ast

from tsguard.analysis import class_relations
from tsguard.analysis.values import ClassValue, External, TupleValue, Value, is_none

NONE_TYPE = External("builtins.NoneType")


def joined(op: ast.operator, left: Value, right: Value) -> TupleValue | None:
    """The classes of both sides; None where one is no class, nor a union of classes."""
    if not isinstance(op, ast.BitOr):
        return None
    one, other = _classes(left), _classes(right)
    return TupleValue((*one, *other)) if one and other else None


def _classes(value: Value) -> tuple[Value, ...]:
    if isinstance(value, TupleValue) and not value.open:
        return value.items if all(map(_classes, value.items)) else ()
    if is_none(value):
        return (NONE_TYPE,)
    return (value,) if isinstance(value, ClassValue) or _names_class(value) else ()


def _names_class(value: Value) -> bool:
    """Whether a name outside what is read is a class: of Python's own, or by how torch and NumPy write theirs."""
    if not isinstance(value, External):
        return False
    package, _, name = value.name.rpartition(".")
    is_theirs = package.partition(".")[0] in ("torch", "numpy") and (name[:1].isupper() or name == "ndarray")
    return is_theirs or value == NONE_TYPE or class_relations.named(value.name) is not None
