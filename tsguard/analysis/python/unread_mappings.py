"""Mappings that nobody has read: any key may be in them, and what is named beside them is only the usual value."""

from __future__ import annotations

from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.terms import Item, Literal
from tsguard.analysis.values import Const, DictValue, Unknown, Value
from tsguard.report.records import replace

REST = "**"
"""Among keywords of a call the mapping that may hold others."""


def likely(interp: Interpreter, found: Value, otherwise: Value) -> Value:
    """What a constructor is given, or else something that it names itself: nothing tells more of its usual value."""
    if not interp.is_plain or not isinstance(found, Unknown) or found.default is not None or found.unread:
        return found
    is_told = isinstance(otherwise, Const) and otherwise.value is not None
    return replace(found, default=otherwise) if is_told else found


def unread_rest(mapping: Value) -> Unknown | None:
    """A mapping that nobody has read, if something stands for it."""
    return mapping if isinstance(mapping, Unknown) and mapping.term is not None else None


def perhaps_other(known: Value, key: str, others: Value | None) -> Value:
    """The default of what is not given, or what ``others``, by ``REST`` among the keywords, may hold in its place."""
    # Of a class or a function by default the target's own parameters are taken for it, too.
    if isinstance(known, Const) and isinstance(others, Unknown) and others.term is not None:
        return Unknown(Item(others.term, Literal.of(key)), default=known)
    return known


def override(target: DictValue, mapping: Unknown | None) -> None:
    """What a dict holds may be another after ``target.update(mapping)``."""
    for key, value in target.items.items() if mapping is not None else ():
        if isinstance(key, str):
            target.items[key] = perhaps_other(value, key, mapping)
