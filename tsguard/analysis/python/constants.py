"""Values as Python has them, where all of their parts are constants."""

from __future__ import annotations

from tsguard.analysis.values import (
    DictValue,
    IteratorValue,
    ListValue,
    SetValue,
    TupleValue,
    Value,
    constant,
)


def known(value: Value) -> object:
    """A constant, or a tuple, list, set or dict of constants; any other value as it is."""
    if isinstance(value, DictValue):
        return _known_dict(value)
    if not isinstance(value, (ListValue, SetValue, TupleValue)) or isinstance(value, IteratorValue):
        return constant(value)
    parts = [known(item) for item in value.items]
    if value.open or any(isinstance(part, Value) for part in parts):
        return value
    if isinstance(value, SetValue):
        return set(parts)
    return value if getattr(value, "cls", None) is not None else _MADE[type(value)](parts)


_MADE = {ListValue: list, TupleValue: tuple}


def _known_dict(value: DictValue) -> object:
    found = {key: known(item) for key, item in value.items.items()}
    is_told = not (value.open or value.untold or value.rest or value.filled_by or value.factory)
    parts = (*found, *found.values())
    return found if is_told and not any(isinstance(part, Value) for part in parts) else value
