"""The Python values behind what compiled code does not know the type of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.budgets import SEARCHED_VALUES
from tsguard.analysis.python import ancestry
from tsguard.analysis.script.sugared import Simple, Sugared, SugaredUnknown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tsguard.analysis.events import Gap
    from tsguard.analysis.python import Interpreter


def source_of(value: Sugared) -> py.Unknown | None:
    """The Python value that an unknown one is, where it is one."""
    if isinstance(value, SugaredUnknown):
        return value.source
    return value.value.source if isinstance(value, Simple) else None


def unknown_in(value: py.Value | None) -> py.Unknown | None:
    """An unknown that a value is or holds, first of all one that was not read."""
    found = [held for held in _held(value) if isinstance(held, py.Unknown)] if value is not None else []
    return next((held for held in found if held.unread is not None), found[0] if found else None)


def unread_in(interp: Interpreter, value: py.Value) -> Gap | None:
    """Why a value, or one that it holds, is not read; None where all is."""
    for held in _held(value):
        if isinstance(held, py.Unknown) and held.unread is not None:
            return held.unread
        cls = held.cls if isinstance(held, py.ObjectValue) else None
        if isinstance(cls, py.ClassValue) and ancestry.has_unknown_base(interp, cls):
            return ancestry.unread_base(interp, cls)
    return None


def _held(value: py.Value) -> Iterator[py.Value]:
    pending = [value]
    for _ in range(SEARCHED_VALUES):
        if not pending:
            return
        value = pending.pop()
        yield value
        if isinstance(value, (py.ListValue, py.TupleValue, py.SetValue)):
            pending.extend(value.items)
        elif isinstance(value, py.DictValue):
            pending.extend(value.items.values())
