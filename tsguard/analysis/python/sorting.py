"""What ``sorted``, ``list.sort``, ``min`` and ``max`` make of items whose order the source tells."""

from __future__ import annotations

from typing import Any

from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.values import (
    FALSE,
    NONE,
    Const,
    ListValue,
    TupleValue,
    Unknown,
    Value,
    constant,
    is_none,
    plain,
)

Kwargs = dict[str, Value]


def ordered(interp: Interpreter, items: list[Value], kwargs: Kwargs) -> list[Value] | None:
    """The items in the order of ``key`` and ``reverse``; None where the source does not tell it."""
    is_reversed = constant(interp.settled(kwargs.get("reverse", FALSE)))
    keys = _keys(interp, items, kwargs)
    if keys is None or isinstance(is_reversed, Value):
        return None
    try:
        order = sorted(range(len(items)), key=keys.__getitem__, reverse=bool(is_reversed))
    except TypeError:
        return None
    return [items[index] for index in order]


def unordered(items: list[Value]) -> list[Value]:
    """The items in an order that is not told: which number or text comes where is open."""
    return list(map(_any_of_its_kind, items))


def _any_of_its_kind(item: Value) -> Value:
    if isinstance(item, TupleValue):
        return TupleValue(tuple(map(_any_of_its_kind, item.items)), item.open)
    return Unknown(None, type(item.value).__name__) if isinstance(item, Const) else item


def extreme(interp: Interpreter, name: str, items: list[Value], kwargs: Kwargs) -> Value | None:
    """The item that ``min`` or ``max`` takes, the first of equal ones; None where the source does not tell."""
    inverse = name == "max"
    found = ordered(interp, items[::-1] if inverse else items, {"key": kwargs.get("key", NONE)})
    if not found:
        return kwargs.get("default") if found is not None else None
    return found[-1 if inverse else 0]


def _keys(interp: Interpreter, items: list[Value], kwargs: Kwargs) -> list[Any] | None:
    key = kwargs.get("key", NONE)
    if not is_none(key):
        items = [interp.call(key, [item], {}, None) for item in items]
    keys = [_known(interp, item) for item in items]
    return None if any(isinstance(key, Value) for key in keys) else keys


def _known(interp: Interpreter, value: Value) -> Any:
    """A number, a text, or a tuple or list of such; the value itself where it is something else."""
    value = plain(interp.settled(value))
    if isinstance(value, Const):
        return value.value
    if isinstance(value, (TupleValue, ListValue)) and not value.open:
        parts = [_known(interp, item) for item in value.items]
        return value if any(isinstance(part, Value) for part in parts) else parts
    return value
