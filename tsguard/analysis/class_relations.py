"""What one answer to ``isinstance`` says of another, where Python's own classes are asked for."""

from __future__ import annotations

import functools
import importlib
import types
import typing
from collections.abc import Iterable

from tsguard.analysis.terms import Group, Named, Term

# Modules whose classes may be looked up: they are loaded already, or harmless to load.
READ = (
    "builtins",
    "collections",
    "collections.abc",
    "enum",
    "functools",
    "numbers",
    "pathlib",
    "types",
    "typing",
)
# Classes that only ``type`` gives: they say that they are builtins, which have no such name.
_UNNAMED = {
    f"builtins.{cls.__name__}": cls
    for cls in (type(None), type(...), types.FunctionType, types.MethodType, types.ModuleType)
}
# No object is of two of these of which neither derives from the other: each lays memory out its own way.
_SOLID = (int, float, complex, str, bytes, list, tuple, dict, set, frozenset, range, slice, type(None))


@functools.cache
def named(name: str) -> type | None:
    """The class of Python's own that has a qualified name; None for any other."""
    module, _, attribute = name.rpartition(".")
    if module not in READ:
        return None
    found = getattr(importlib.import_module(module), attribute, _UNNAMED.get(name))
    origin = typing.get_origin(found)
    found = origin if isinstance(origin, type) else found
    return found if isinstance(found, type) else None


def is_subclass(one: type, other: type) -> bool:
    """``issubclass``; a protocol that is not for run time has no subclasses."""
    try:
        return issubclass(one, other)
    except TypeError:
        return False


def implied(asked: Term, answers: Iterable[tuple[Term, bool]]) -> bool | None:
    """Whether an object is of the classes ``asked`` for, as ``answers`` for other classes imply; None: they
    do not tell."""
    wanted = _classes(asked)
    if not wanted:
        return None
    for term, yes in answers:
        known = _classes(term)
        if not yes and _all_among(wanted, known):
            return False
        if yes and _all_among(known, wanted):
            return True
        if yes and known and all(_excludes(one, other) for one in known for other in wanted):
            return False
    return None


def includes_none(asked: Term) -> bool:
    """Whether None may be of the classes: of what is not Python's own, nobody knows."""
    classes = _classes(asked)
    return not classes or any(is_subclass(type(None), cls) for cls in classes)


def _classes(term: Term) -> tuple[type, ...]:
    """The classes that a term stands for; none where one is not Python's own."""
    terms = term.items if isinstance(term, Group) else (term,)
    found = [named(str(one.identity)) if isinstance(one, Named) else None for one in terms]
    known = tuple(cls for cls in found if cls is not None)
    return known if len(known) == len(found) else ()


def _all_among(classes: tuple[type, ...], others: tuple[type, ...]) -> bool:
    """Whether what is of one of the classes is of one of the others."""
    return bool(classes) and all(any(is_subclass(cls, other) for other in others) for cls in classes)


def _excludes(one: type, other: type) -> bool:
    """Whether no object is of both."""
    solid = [next((base for base in cls.__mro__ if base in _SOLID), None) for cls in (one, other)]
    first, second = solid
    return (
        first is not None
        and second is not None
        and not (issubclass(first, second) or issubclass(second, first))
    )
