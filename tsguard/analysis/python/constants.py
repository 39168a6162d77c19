"""Values as Python has them, where all of their parts are constants, and the other way round."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tsguard.analysis.budgets import MOST_PARTS
from tsguard.analysis.values import (
    Const,
    DictValue,
    IteratorValue,
    ListValue,
    SetValue,
    TupleValue,
    Value,
)


def known(value: Value) -> object:
    """A constant, or a tuple, list, set or dict of constants; any other value, or one of too many parts, as it is.

    A member of an enumeration is no constant here, even one that is also a number: a text shows it another way.
    """
    return _Reading().read(value)


class _Reading:
    """One value, whose parts are counted each time that they are met: a tuple of one tuple twice grows without end."""

    def __init__(self) -> None:
        self._left = MOST_PARTS

    def read(self, value: Value) -> object:
        self._left -= 1
        if self._left < 0:
            return value
        if isinstance(value, DictValue):
            return self._dict(value)
        if not isinstance(value, (ListValue, SetValue, TupleValue)) or isinstance(value, IteratorValue):
            return value.value if isinstance(value, Const) else value
        if value.open or getattr(value, "cls", None) is not None:
            return value
        parts = self._parts(value.items)
        try:
            return value if parts is None else _MADE[type(value)](parts)
        except TypeError:  # a set of what has no hash
            return value

    def _parts(self, items: Iterable[Value]) -> list[object] | None:
        parts: list[object] = []
        for item in items:
            parts.append(self.read(item))
            if isinstance(parts[-1], Value):
                return None
        return parts

    def _dict(self, value: DictValue) -> object:
        if value.open or value.untold or value.rest or value.filled_by or value.factory or value.ordered:
            return value
        parts = (
            None if any(isinstance(key, Value) for key in value.items) else self._parts(value.items.values())
        )
        return value if parts is None else dict(zip(value.items, parts, strict=True))


_MADE: dict[type[Value], Callable[[list[object]], object]] = {
    ListValue: list,
    SetValue: set,
    TupleValue: tuple,
}


def literal(value: object) -> Value:
    """A Python constant, or a tuple, list or dict of constants, as a value."""
    if isinstance(value, tuple):
        return TupleValue(tuple(map(literal, value)))
    if isinstance(value, list):
        return ListValue(list(map(literal, value)))
    if isinstance(value, dict):
        return DictValue({key: literal(item) for key, item in value.items()})
    return Const(value)
