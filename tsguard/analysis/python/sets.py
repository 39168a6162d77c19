"""What sets of constants have in common and what not."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection

from tsguard.analysis.values import Const, SetValue, Value

Constants = Collection[object]

_COMBINED: dict[str, Callable[[set[object], set[object]], Constants]] = {
    "difference": lambda left, right: left - right,
    "intersection": lambda left, right: left & right,
    "symmetric_difference": lambda left, right: left ^ right,
    "union": lambda left, right: left | right,
}
_SIGNS: dict[type[ast.operator], str] = {
    ast.Sub: "difference",
    ast.BitAnd: "intersection",
    ast.BitXor: "symmetric_difference",
    ast.BitOr: "union",
}


def by_method(name: str, left: SetValue, right: SetValue) -> SetValue | None:
    """``left.difference(right)`` and its like; None where not all items are constants."""
    combine = _COMBINED.get(name)
    if combine is None or left.open or right.open:
        return None
    sides = [[item.value for item in side.items if isinstance(item, Const)] for side in (left, right)]
    if len(sides[0]) < len(left.items) or len(sides[1]) < len(right.items):
        return None
    kept = combine(set(sides[0]), set(sides[1]))
    return SetValue([Const(value) for value in dict.fromkeys((*sides[0], *sides[1])) if value in kept])


def by_operator(op: ast.operator, left: Value, right: Value) -> SetValue | None:
    """``left - right`` and its like; None where not all items are constants, or they are no sets."""
    name = _SIGNS.get(type(op), "")
    if not isinstance(left, SetValue) or not isinstance(right, SetValue):
        return None
    return by_method(name, left, right)
