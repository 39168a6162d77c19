"""Calls that are made once: what a function gives for the same arguments, where these are all it can see."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from tsguard.analysis.budgets import DEEPEST_KEY
from tsguard.analysis.python import works
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.python.keeping import Kept
from tsguard.analysis.python.structural_keys import unknown_key
from tsguard.analysis.values import (
    Atom,
    ClassValue,
    Const,
    DictValue,
    External,
    FunctionValue,
    ListValue,
    ObjectValue,
    SetValue,
    TupleValue,
    Unknown,
    Value,
)

_CACHED: Kept[Hashable, list[works.Done]] = Kept()
"""What functions under ``functools.lru_cache`` gave."""
_OBJECTS: Kept[Hashable, list[works.Done]] = Kept()
"""What classes of packages made of constants."""


def cached(
    interp: Interpreter,
    function: FunctionValue,
    args: list[Value],
    kwargs: dict[str, Value],
    run: Callable[[], Value],
) -> Value:
    """A call under ``functools.lru_cache``: one result for equal constants.

    Here it is a copy: what one target does with it is not seen by another.
    """
    key = key_of(function, args, kwargs) if function.scope.is_global else None
    if key is None:
        return run()
    if not interp.is_plain:
        if key not in interp.results:
            interp.results[key] = _apart(interp, function, args, kwargs) or run()
        return interp.results[key]
    return works.once(interp, _CACHED.of(interp.program).setdefault(key, []), run)


def _apart(
    interp: Interpreter, function: FunctionValue, args: list[Value], kwargs: dict[str, Value]
) -> Value | None:
    """What a call gives that is made for all who want it, where that is the same for whoever follows the code."""
    made = interp.plain.call(function, args, kwargs)
    return made if _is_told(made) else None


def object_of(
    interp: Interpreter, cls: ClassValue, args: list[Value], kwargs: dict[str, Value]
) -> Value | None:
    """The object that a class of a package makes of constants, made once for all targets; None where it is not told."""
    key = key_of(cls, args, kwargs)
    if key is None:
        return None
    known = _OBJECTS.of(interp.program).setdefault(key, [])
    made = works.once(interp.plain, known, lambda: interp.plain.call(cls, args, kwargs))
    return made if isinstance(made, ObjectValue) and _is_told(made) else None


def _is_told(value: Value, depth: int = 0) -> bool:
    """Whether nothing of a value is unknown, nor made of tensors or modules."""
    if depth > DEEPEST_KEY:
        return False
    if isinstance(value, (ListValue, SetValue, TupleValue)):
        return not value.open and all(_is_told(item, depth + 1) for item in value.items)
    if isinstance(value, DictValue):
        return not value.open and all(_is_told(item, depth + 1) for item in value.items.values())
    if isinstance(value, ObjectValue):
        return not value.open and all(_is_told(held, depth + 1) for held in value.attributes.values())
    return isinstance(value, (Const, Atom, ClassValue, External, FunctionValue))


def key_of(function: Value, args: list[Value], kwargs: dict[str, Value]) -> Hashable | None:
    """What is the same for each call with the same constants; None where it is given anything else."""
    frozen = [_frozen(value) for value in (*args, *kwargs.values())]
    return None if None in frozen else (function, len(args), tuple(kwargs), *frozen)


def _frozen(value: Value, other: Callable[[Value], object] = lambda value: None) -> object:
    """A hashable stand-in for a constant; None, or what ``other`` tells, for any other value."""
    if isinstance(value, Const):
        return (type(value.value), value.value)
    if isinstance(value, TupleValue) and not value.open:
        items = tuple(_frozen(item, other) for item in value.items)
        return None if None in items else items
    return other(value)


def alike(value: Value, other: Callable[[Value], object] = lambda value: None) -> object:
    """A hashable stand-in for a constant, or for what is not known of which nothing more is to be told.

    ``other`` gives one for values that a walk knows better.
    """
    return _frozen(value, lambda part: _unknown(part) or other(part))


def _unknown(value: Value) -> object:
    if type(value) is not Unknown or value.term is None:
        return None
    default = () if value.default is None else alike(value.default)
    return None if default is None else unknown_key(value, default)
