"""Calls made before: what a function gave for arguments like these, while what modules define is as they define it.

Its steps count each time, as if it ran again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from itertools import count

from tsguard.analysis.budgets import DEEPEST_CONSTRUCTION, REMEMBERED_CALLS
from tsguard.analysis.python import constructions, works
from tsguard.analysis.python.context import CHANGEABLE, Interpreter, Raised
from tsguard.analysis.python.copies import Copying, is_closure
from tsguard.analysis.python.keeping import Kept
from tsguard.analysis.python.shared_state import Changes
from tsguard.analysis.terms import Question
from tsguard.analysis.values import FunctionValue, ListValue, ModuleValue, TupleValue, Value
from tsguard.analysis.worlds import Asked
from tsguard.report.records import dataclass
from tsguard.source.functions import FunctionNode

_Pairs = tuple[tuple[tuple[Question, Question], int], ...]


@dataclass(frozen=True, slots=True)
class _Kept:
    """What came of a call: a value, or what it raised, and what it changed of the state that modules share."""

    outcome: Value | Raised
    changes: Changes | None


@dataclass(frozen=True, eq=False, slots=True)
class _Call:
    """A call that ``asked`` the world so; ``followed`` counts the questions that were asked after one another in one test."""

    asked: tuple[Asked, ...]
    kept: _Kept
    counts: works.Counts
    followed: _Pairs


CALLS: Kept[tuple[FunctionNode, tuple[Hashable, ...]], list[_Call]] = Kept()
"""The calls of a function for arguments that are alike."""


def remembered(
    interp: Interpreter,
    function: FunctionValue,
    args: list[Value],
    kwargs: dict[str, Value],
    run: Callable[[], Value],
) -> Value:
    """What ``run`` gives, or what it gave for such arguments in a world of the same answers.

    Raises:
        Raised: it raises, or did.
    """
    key = _key(interp, function, args, kwargs)
    if key is None:
        return run()
    calls = CALLS.of(interp.program).setdefault((function.node, key), [])
    world = interp.world
    for call in calls:
        if not (call.asked and world.joined) and world.agrees(call.asked):
            return _again(interp, call)
    before, read, shared = dict(world.followed), interp.frames_read, interp.program.shared_state
    version = shared.version
    outcome: Value | Raised
    with works.counted(world) as counts, world.heard() as asked:
        try:
            outcome = run()
        except Raised as raised:
            outcome = raised
    if interp.frames_read == read and len(calls) < REMEMBERED_CALLS:
        changes = None if shared.version == version else shared.changes()
        kept = _kept(interp, _Kept(outcome, changes), (*args, *kwargs.values()))
        if kept is not None and _given(interp, args, kwargs) == key[0]:
            followed = tuple((Counter(world.followed) - Counter(before)).items())
            calls.append(_Call(tuple(asked), kept, counts, followed))
            if changes is not None:
                shared.version = calls[-1]
    if isinstance(outcome, Raised):
        raise outcome
    return outcome


def _again(interp: Interpreter, call: _Call) -> Value:
    works.count_again(interp, call.counts)
    world, program = interp.world, interp.program
    for pair, times in call.followed:
        world.followed[pair] = world.followed.get(pair, 0) + times
    again = _copied(Copying(), call.kept)
    if again.changes is not None:
        program.shared_state.change(again.changes, call)
        program.members.clear()
    if isinstance(again.outcome, Raised):
        raise again.outcome
    return again.outcome


def _key(
    interp: Interpreter, function: FunctionValue, args: list[Value], kwargs: dict[str, Value]
) -> tuple[Hashable, ...] | None:
    """What calls have in common that a function cannot tell apart; None where it may see, or change, more than that."""
    shared = interp.program.shared_state
    if interp.is_defining or interp.depth > DEEPEST_CONSTRUCTION or shared.version is None:
        return None
    if is_closure(function) or interp.program.patches or (function.node, function.scope) in interp.active:
        return None
    if any(isinstance(default, CHANGEABLE) for default in function.defaults.values()):
        return None
    given = _given(interp, args, kwargs)
    if given is None:
        return None
    loops = (interp.open_loops, interp.outer_loops, interp.branches > 0)
    return (given, interp.world.manner, interp.tries > 0, interp.guards > 0, loops, function, shared.version)


def _given(interp: Interpreter, args: list[Value], kwargs: dict[str, Value]) -> Hashable | None:
    keys = constructions.keys_of((*args, *kwargs.values()), count(), interp.program.shared_state.holds)
    return None if keys is None else (keys, *kwargs)


def _kept(interp: Interpreter, made: _Kept, given: Iterable[Value]) -> _Kept | None:
    """What later calls may have; None where it is, or holds, what was there before the call.

    Modules made of modules are remembered by their constructors.
    """
    if any(isinstance(value, ModuleValue) and value.children for value in _parts(made.outcome)):
        return None
    copying = Copying()
    kept = _copied(copying, made)
    if not copying.is_whole or not copying.values:
        return kept if copying.is_whole else None
    if not copying.is_exact:
        return None
    is_old = copying.is_any(interp.program.shared_state.holds)
    return None if is_old or any(isinstance(v, CHANGEABLE) and copying.has(v) for v in given) else kept


def _copied(copying: Copying, made: _Kept) -> _Kept:
    outcome = made.outcome.again() if isinstance(made.outcome, Raised) else copying.copy(made.outcome)
    return _Kept(outcome, None if made.changes is None else made.changes.mapped(copying.copy))


def _parts(value: Value | Raised) -> Iterable[Value | Raised]:
    return value.items if isinstance(value, (ListValue, TupleValue)) else (value,)
