"""Calls that are made once: what a function gives for the same arguments, where these are all it can see."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Hashable
from itertools import chain

from tsguard.analysis.budgets import DEEPEST_KEY
from tsguard.analysis.python import works
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.python.keeping import Kept
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
from tsguard.analysis.worlds import Asked
from tsguard.report.records import dataclass
from tsguard.source.functions import FunctionNode
from tsguard.source.walking import walked

# Builtins that give the same for the same, and change nothing.
_PURE = frozenset(
    {
        *("abs", "all", "any", "bool", "divmod", "float", "int", "len", "max", "min", "pow", "round", "str"),
        *("dict", "enumerate", "list", "range", "reversed", "set", "sorted", "sum", "tuple", "zip"),
        *("Exception", "IndexError", "KeyError", "NotImplementedError", "RuntimeError", "TypeError"),
        *("ValueError", "isinstance"),
    }
)
_BEYOND = (
    *(ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.Yield, ast.YieldFrom, ast.Await),
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda),
)

_CACHED: Kept[Hashable, list[works.Done]] = Kept()
"""What functions under ``functools.lru_cache`` gave."""
_OBJECTS: Kept[Hashable, list[works.Done]] = Kept()
"""What classes of packages made of constants."""
_CLOSED: Kept[FunctionNode, bool] = Kept()


@dataclass(frozen=True, slots=True)
class _Call:
    """What a call ``asked`` the world, what it gave then, and the steps that it took."""

    asked: tuple[Asked, ...]
    value: Value
    steps: int


CALLS: Kept[tuple[Hashable, ...], list[_Call]] = Kept()
"""The calls of a function, its node first, for arguments that are alike."""


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


def kept(
    interp: Interpreter,
    function: FunctionValue,
    args: list[Value],
    kwargs: dict[str, Value],
    run: Callable[[], Value],
) -> Value:
    """What ``run`` gives, or what it gave for such arguments in a world of the same answers.

    The steps of a call count each time, as if it ran again.
    """
    given = [alike(value) for value in (*args, *kwargs.values())]
    if None in given:
        return run()
    world = interp.world
    state = (world.manner, interp.tries > 0, interp.open_loops > 0, interp.branches > 0)
    calls = CALLS.of(interp.program).setdefault((function.node, state, len(args), *kwargs, *given), [])
    for call in calls:
        if world.agrees(call.asked):
            interp.spend(call.steps)
            return call.value
    begun, spent = len(world.asked), world.spent
    world.listening += 1
    try:
        value = run()
    finally:
        world.listening -= 1
    if alike(value) is not None:
        calls.append(_Call(tuple(dict.fromkeys(world.asked[begun:])), value, world.spent - spent))
    return value


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
    told = (value.term, value.hint, default, value.unread, value.annotation, value.scope, value.guess)
    return None if default is None else told


def is_closed(interp: Interpreter, function: FunctionValue) -> bool:
    """Whether a function reads nothing but its parameters, and changes nothing that others see."""
    known = _CLOSED.of(interp.program)
    node = function.node
    if node not in known:
        module = function.module
        is_plain = isinstance(node, ast.FunctionDef) and not (node.decorator_list or module.binds_unseen)
        known[node] = is_plain and function.scope.is_global and _sees_only_itself(node, module.bindings)
    return known[node]


def _sees_only_itself(node: FunctionNode, taken: Container[str]) -> bool:
    if isinstance(node, ast.Lambda):
        return False
    spec = node.args
    if not all(
        isinstance(default, ast.Constant)
        for default in (*spec.defaults, *spec.kw_defaults)
        if default is not None
    ):
        return False
    inner = list(chain.from_iterable(map(walked, node.body)))
    bound = {argument.arg for argument in walked(spec) if isinstance(argument, ast.arg)}
    bound |= {name.id for name in inner if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)}
    return not any(
        isinstance(part, _BEYOND)
        or (isinstance(part, ast.Attribute) and not isinstance(part.ctx, ast.Load))
        or (
            isinstance(part, ast.Name) and part.id not in bound and (part.id not in _PURE or part.id in taken)
        )
        for part in inner
    )
