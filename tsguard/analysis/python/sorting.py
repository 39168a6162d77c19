"""What ``sorted``, ``list.sort``, ``min`` and ``max`` make of items whose order the source tells."""

from __future__ import annotations

import ast
import functools
from typing import Any

from tsguard.analysis.python import comparisons
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.values import (
    FALSE,
    NONE,
    Const,
    ListValue,
    ModuleValue,
    ObjectValue,
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
    key = kwargs.get("key", NONE)
    keys = items if is_none(key) else [interp.call(key, [item], {}, None) for item in items]
    order = order_of(interp, keys, kwargs.get("reverse", FALSE))
    return None if order is None else [items[index] for index in order]


def order_of(interp: Interpreter, keys: list[Value], is_reversed: Value) -> list[int] | None:
    """The places of the keys in their order; None where the source does not tell it."""
    backwards = constant(interp.settled(is_reversed))
    if isinstance(backwards, Value):
        return None
    known = [_known(interp, key) for key in keys]
    if any(isinstance(key, Value) for key in known):
        return _compared(interp, keys, bool(backwards))
    try:
        return sorted(range(len(known)), key=known.__getitem__, reverse=bool(backwards))
    except TypeError:
        return None


def _compared(interp: Interpreter, keys: list[Value], is_reversed: bool) -> list[int] | None:
    """The order of keys that a ``__lt__`` of their own compares; None where one comparison is not told."""
    is_told = True

    def before(one: int, other: int) -> int:
        nonlocal is_told
        less = constant(comparisons.compare(interp, ast.Lt(), keys[one], keys[other]))
        is_told = is_told and isinstance(less, bool)
        return -1 if less is True else 1

    order = sorted(range(len(keys)), key=functools.cmp_to_key(before), reverse=is_reversed)
    return order if is_told else None


def unordered(items: list[Value]) -> list[Value]:
    """The items in an order that is not told: which number or text comes where is open."""
    return list(map(_any_of_its_kind, items))


def _any_of_its_kind(item: Value) -> Value:
    if isinstance(item, ObjectValue) and not isinstance(item, ModuleValue):
        return Unknown()
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


def _known(interp: Interpreter, value: Value) -> Any:
    """A number, a text, or a tuple or list of such; the value itself where it is something else."""
    value = plain(interp.settled(value))
    if isinstance(value, Const):
        return value.value
    if isinstance(value, (TupleValue, ListValue)) and not value.open:
        parts = [_known(interp, item) for item in value.items]
        return value if any(isinstance(part, Value) for part in parts) else parts
    return value
