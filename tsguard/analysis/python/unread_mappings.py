"""Mappings that nobody has read: any key may be in them, and what is named beside them is only the usual value."""

from __future__ import annotations

import ast
from typing import TypeVar

from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.terms import Attribute, Call, Element, Item, Literal, Parameter, Term
from tsguard.analysis.values import Const, Unknown, Value
from tsguard.report.records import replace

_Key = TypeVar("_Key")

REST = "**"
"""Among keywords of a call the mapping that may hold others."""

STARS = "*"
"""Among them what may hold more arguments, after the last of those by position, which is its first."""


def gathers(term: Term | None, kind: str) -> bool:
    """Whether a term is the ``*args`` (of the ``kind`` "vararg") or the ``**kwargs`` ("kwarg") of a function."""
    spec = getattr(term.function, "args", None) if isinstance(term, Parameter) else None
    gathering = getattr(spec, kind, None)
    return isinstance(term, Parameter) and gathering is not None and gathering.arg == term.name


def likely(interp: Interpreter, found: Value, otherwise: Value) -> Value:
    """What a constructor is given, or else something that it names itself: nothing tells more of its usual value."""
    if not interp.is_plain or not isinstance(found, Unknown) or found.default is not None or found.unread:
        return found
    is_told = isinstance(otherwise, Const) and otherwise.value is not None
    return replace(found, default=otherwise) if is_told else found


def perhaps_absent(found: Value) -> Value:
    """What is looked up where nobody knows whether it is there, and is None where it is not."""
    if not isinstance(found, Unknown) or found.default is not None or found.unread:
        return found
    # As if it were an argument that is annotated so.
    return replace(found, annotation=found.annotation or ast.Constant(None))


def unread_rest(mapping: Value) -> Unknown | None:
    """A mapping that nobody has read, if something stands for it."""
    return mapping if isinstance(mapping, Unknown) and mapping.term is not None else None


def perhaps_other(known: Value, key: str | int, others: Value | None) -> Value:
    """The default of what is not given, or what ``others``, by ``REST`` among the keywords, may hold in its place."""
    # Of a class or a function by default the target's own parameters are taken for it, too.
    if isinstance(known, Const) and isinstance(others, Unknown) and others.term is not None:
        return Unknown(Item(others.term, Literal.of(key)), default=known)
    return known


def override(held: dict[_Key, Value], mapping: Unknown | None) -> None:
    """What is held by name may be another after ``held.update(mapping)``."""
    for key, value in held.items() if mapping is not None else ():
        if isinstance(key, str):
            held[key] = perhaps_other(value, key, mapping)


def keyed_by(key: Value) -> Unknown | None:
    """The mapping over which a loop binds a key: ``for key, value in mapping.items()``."""
    term = key.term if isinstance(key, Unknown) else None
    if isinstance(term, Item) and term.key == Literal.of(0):
        term = term.owner
    if not isinstance(term, Element):
        return None
    looped = term.owner
    if isinstance(looped, Call) and isinstance(looped.function, Attribute):
        looped = looped.function.owner if looped.function.name in ("items", "keys") else looped
    return Unknown(looped)


def pairs(interp: Interpreter, mapping: Unknown, method: str) -> Value:
    """Any of what ``mapping.items()``, ``keys()`` or ``values()`` gives."""
    assert mapping.term is not None
    return Unknown(Element(Call(Attribute(mapping.term, method), ()), interp.open_loops + interp.outer_loops))
