"""Attributes that the class annotates: torch copies the value to the type that the annotation says.

Source: torch/csrc/jit/python/pybind_utils.cpp (``toIValue``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tsguard.analysis import values as py
from tsguard.analysis.script.context import Compiler
from tsguard.analysis.script.inference import Uninferable, type_of
from tsguard.language import types as t
from tsguard.language.relations import is_subtype

_NUMBERS = frozenset({"bool", "int", "float"})
# What each type takes, by the kind of the value.
_TAKEN: dict[t.Type, frozenset[str]] = {
    t.INT: frozenset({"bool", "int", "dtype", "layout", "memory_format", "qscheme"}),
    t.FLOAT: _NUMBERS,
    t.COMPLEX: _NUMBERS | {"complex"},
    t.BOOL: _NUMBERS | {"complex", "NoneType", "range"},
    t.STR: frozenset({"str"}),
    t.DEVICE: frozenset({"device"}),
    t.NONE: frozenset({"NoneType"}),
}
_KINDS = {t.INT: "int", t.FLOAT: "float", t.BOOL: "bool", t.STR: "str", t.COMPLEX: "complex"}
# Lists of these are read by pybind11, which takes neither texts nor dicts for sequences; others are iterated over.
_VECTORS = (t.INT, t.FLOAT, t.BOOL, t.TENSOR)


def takes(compiler: Compiler, type_: t.Type, value: py.Value) -> bool | None:
    """Whether a value can be copied to a type; None where the source does not tell."""
    value = compiler.interp.settled(value)
    if isinstance(type_, t.OptionalType):
        return True if py.is_none(value) else takes(compiler, type_.element, value)
    if isinstance(type_, t.ListType):
        return _list(compiler, type_.element, value)
    if isinstance(type_, t.DictType):
        return _dict(compiler, type_, value)
    if isinstance(type_, t.TupleType):
        return _tuple(compiler, type_.elements, value)
    taken = _TAKEN.get(type_)
    if taken is not None:
        kind = _kind(compiler, value)
        return None if kind is None else kind in taken
    if type_ is t.ANY or isinstance(type_, t.UnionType):
        return _inferred(compiler, type_, value)
    return None


def _inferred(compiler: Compiler, type_: t.Type, value: py.Value) -> bool | None:
    try:
        given = type_of(compiler, value)
    except Uninferable:
        return False
    return None if t.mentions_unknown(given) else is_subtype(given, type_)


def _kind(compiler: Compiler, value: py.Value) -> str | None:
    if isinstance(value, py.Const):
        known = type(value.value).__name__
        return known if known in ("bool", "int", "float", "complex", "str", "NoneType") else None
    if isinstance(value, py.Atom):
        return value.kind
    if isinstance(value, py.Unknown):
        try:
            given = type_of(compiler, value)
        except Uninferable:
            return None
        return next((kind for type_, kind in _KINDS.items() if given is type_), None)
    if isinstance(value, py.RangeValue):
        return "range"
    return "" if isinstance(value, (py.ListValue, py.TupleValue, py.DictValue, py.SetValue)) else None


def _items(value: py.Value) -> Sequence[py.Value] | None:
    """What iterating over a sequence gives; None where that is not told."""
    if isinstance(value, py.RangeValue):
        return [py.Const(0)]
    if isinstance(value, (py.ListValue, py.TupleValue, py.SetValue)):
        return None if value.open else list(value.items)
    return None


def listed_atom(value: py.Value) -> str:
    """The kind of what lies in a list and is an int alone, a dtype or the like; empty where there is none."""
    if not isinstance(value, (py.ListValue, py.TupleValue, py.DictValue)):
        return ""
    items = list(value.items.values()) if isinstance(value, py.DictValue) else value.items
    own = map(_atom, items) if isinstance(value, py.ListValue) else ()
    return next(filter(None, (*own, *map(listed_atom, items))), "")


def _atom(value: py.Value) -> str:
    """The kind of what is no number to Python and an int to torch; empty for everything else."""
    return value.kind if isinstance(value, py.Atom) and value.kind != "device" else ""


def _all(found: Iterable[bool | None]) -> bool | None:
    answers = list(found)
    if False in answers:
        return False
    return None if None in answers else True


def _list(compiler: Compiler, element: t.Type, value: py.Value) -> bool | None:
    if _kind(compiler, value) == "str":
        return None if element is t.ANY else element is t.STR
    if isinstance(value, py.DictValue):
        if element in _VECTORS:
            return False
        keys = [py.Const(key) for key in value.items if isinstance(key, (str, int, float))]
        return None if value.open or len(keys) < len(value.items) else _each(compiler, element, keys)
    items = _items(value)
    if items is not None:
        return False if any(map(_atom, items)) else _each(compiler, element, items)
    return False if isinstance(value, (py.Const, py.Atom)) else None


def _each(compiler: Compiler, element: t.Type, items: Iterable[py.Value]) -> bool | None:
    return _all(takes(compiler, element, item) for item in items)


def _dict(compiler: Compiler, type_: t.DictType, value: py.Value) -> bool | None:
    if not isinstance(value, py.DictValue):
        items = _items(value)
        if items is None:
            return False if isinstance(value, (py.Const, py.Atom)) else None
        return not items or (None if any(isinstance(i, py.TupleValue) for i in items) else False)
    if value.open:
        return None
    keys = [py.Const(key) for key in value.items if isinstance(key, (str, int, float))]
    if len(keys) < len(value.items):
        return None
    values = [item for item in value.items.values() if not (type_.value is t.TENSOR and py.is_none(item))]
    return _all((_each(compiler, type_.key, keys), _each(compiler, type_.value, values)))


def _tuple(compiler: Compiler, elements: tuple[t.Type, ...], value: py.Value) -> bool | None:
    items = _items(value)
    if items is None or isinstance(value, (py.RangeValue, py.SetValue)):
        return False if isinstance(value, (py.Const, py.Atom, py.DictValue)) else None
    if len(items) != len(elements):
        return False
    return _all(takes(compiler, type_, item) for type_, item in zip(elements, items, strict=True))
