"""Modules made before: most parts of a network are one part made many times over.

A constructor that gets the same arguments, and the same answers to what it asks the world,
makes the same module.  From the second time on it is a copy of what was made the first time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from itertools import count

from tsguard.analysis.budgets import CONSTRUCTION_VALUES, DEEPEST_CONSTRUCTION
from tsguard.analysis.python import works
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.python.copies import is_closure
from tsguard.analysis.python.keeping import Kept
from tsguard.analysis.python.structural_keys import unknown_key
from tsguard.analysis.values import (
    Atom,
    ClassValue,
    Const,
    DictValue,
    External,
    FunctionValue,
    IteratorValue,
    ListValue,
    ModuleValue,
    Partial,
    SetValue,
    TupleValue,
    Unknown,
    Value,
)

CONSTRUCTIONS: Kept[Hashable, list[works.Done]] = Kept()
"""What constructors made, by class and arguments."""


def made(
    interp: Interpreter,
    cls: ClassValue,
    args: list[Value],
    kwargs: dict[str, Value],
    make: Callable[[], ModuleValue],
) -> ModuleValue:
    """What ``make`` gives, or a copy of what it gave for arguments like these."""
    key = _key(interp, cls, args, kwargs) if interp.is_plain else None
    if key is None:
        return make()
    known = CONSTRUCTIONS.of(interp.program).setdefault(key, [])
    module = works.once(interp, known, make, lambda: _key(interp, cls, args, kwargs) == key)
    assert isinstance(module, ModuleValue)
    return module


def _key(
    interp: Interpreter, cls: ClassValue, args: list[Value], kwargs: dict[str, Value]
) -> Hashable | None:
    if interp.depth > DEEPEST_CONSTRUCTION:
        return None
    given = keys_of((*args, *kwargs.values()), count())
    if given is None:
        return None
    return (cls, interp.world.manner, interp.tries > 0, interp.open_loops > 0, interp.repeats, given, *kwargs)


def _is_none(identity: int) -> bool:
    return False


def _structural_key(
    value: Value, looked_at: count[int], is_fixed: Callable[[int], bool], depth: int
) -> Hashable | None:
    """What arguments have in common if nobody can tell them apart; None for what may change."""
    if isinstance(value, Const):
        return (type(value.value), value.value)
    if is_fixed(id(value)):
        return value
    if isinstance(value, (Atom, External, ClassValue)):
        return value
    if type(value) is Unknown:  # a walk has kinds of its own, which tell more
        default = (
            _structural_key(value.default, looked_at, is_fixed, depth) if value.default is not None else ()
        )
        return value if default is None else unknown_key(value, default)
    if isinstance(value, FunctionValue):
        return None if is_closure(value) else value
    if isinstance(value, TupleValue):
        items = keys_of(value.items, looked_at, is_fixed, depth + 1)
        return None if items is None else (TupleValue, value.open, value.cls, items)
    if isinstance(value, (ListValue, SetValue)) and not isinstance(value, IteratorValue):
        items = keys_of(value.items, looked_at, is_fixed, depth + 1)
        return None if items is None else (type(value), value.open, items)
    if isinstance(value, DictValue) and not (value.registry_of or value.names_of or value.filled_by):
        items = keys_of(value.items.values(), looked_at, is_fixed, depth + 1)
        told = (DictValue, value.open, value.factory, value.rest, *value.untold.items())
        return None if items is None else (*told, items, *value.items)
    if isinstance(value, Partial):
        given = keys_of((value.function, *value.args, *value.kwargs.values()), looked_at, is_fixed, depth + 1)
        return None if given is None else (Partial, given, *value.kwargs)
    return None


def keys_of(
    values: Iterable[Value],
    looked_at: count[int],
    is_fixed: Callable[[int], bool] = _is_none,
    depth: int = 0,
) -> tuple[Hashable, ...] | None:
    """What stands for values and all that nobody can tell from them; None where one of them may change.

    What is ``is_fixed``, by its identity, stands for itself.
    """
    if depth > DEEPEST_CONSTRUCTION:
        return None  # a list may hold itself
    found = []
    for value in values:
        structural_key = (
            _structural_key(value, looked_at, is_fixed, depth)
            if next(looked_at) < CONSTRUCTION_VALUES
            else None
        )
        if structural_key is None:
            return None
        found.append(structural_key)
    return tuple(found)
