"""One value for two: what is known of a name after branches that may both have run."""

from __future__ import annotations

from tsguard.analysis import values as py
from tsguard.analysis.scopes import Scope
from tsguard.analysis.trace.values import Derived, Number, Opaque, Shape, Traced, origin_of

Names = dict[str, py.Value]


def joined(left: py.Value, right: py.Value) -> py.Value:
    """A value that is one of two; tensors stay tensors, what differs else is unknown."""
    if left is right or (isinstance(left, py.Const) and left == right):
        return left
    if isinstance(left, Traced) and isinstance(right, py.TensorValue):
        return right if isinstance(right, Traced) and right.of == "inputs" else left
    if isinstance(left, py.TensorValue) and isinstance(right, (Traced, py.TensorValue)):
        return right
    if type(left) is type(right):
        alike = _alike(left, right)
        if alike is not None:
            return alike
    origin = origin_of([left, right])
    if origin is not None:
        return Opaque("", origin=origin)
    hint = _hint(left) if _hint(left) == _hint(right) else ""
    return py.Unknown("", hint)


def _alike(left: py.Value, right: py.Value) -> py.Value | None:
    if isinstance(left, Number) and isinstance(right, Number):
        return left if left.live or not right.live else right
    if isinstance(left, (Shape, Derived)):
        return left
    if (
        isinstance(left, py.TupleValue)
        and isinstance(right, py.TupleValue)
        and len(left.items) == len(right.items)
    ):
        pairs = zip(left.items, right.items, strict=True)
        return py.TupleValue(tuple(joined(a, b) for a, b in pairs), left.open or right.open, left.cls)
    if isinstance(left, py.ListValue) and isinstance(right, py.ListValue):
        longer = left if len(left.items) >= len(right.items) else right
        return py.ListValue(list(longer.items), True)
    return None


def _hint(value: py.Value) -> str:
    if isinstance(value, py.Const):
        return type(value.value).__name__
    return value.hint if isinstance(value, py.Unknown) else ""


def merge(scope: Scope, one: Names, other: Names) -> None:
    """Give a scope the names that either branch leaves behind."""
    names = {**other, **one}
    for name in one.keys() & other.keys():
        if one[name] is not other[name]:
            names[name] = joined(one[name], other[name])
    scope.names.clear()
    scope.names.update(names)
