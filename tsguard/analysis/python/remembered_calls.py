"""Calls made before: what a function gave for arguments like these, while what modules define is as they define it.

Its steps count each time, as if it ran again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from itertools import count

from tsguard.analysis.budgets import DEEPEST_CONSTRUCTION, REMEMBERED_CALLS
from tsguard.analysis.python import constructions, works
from tsguard.analysis.python.context import CHANGEABLE, Interpreter, Raised
from tsguard.analysis.python.copies import Copying, is_closure
from tsguard.analysis.python.keeping import Kept
from tsguard.analysis.python.shared_state import Changes
from tsguard.analysis.terms import Question
from tsguard.analysis.values import (
    Atom,
    ClassValue,
    Const,
    EnumMember,
    External,
    FunctionValue,
    ModuleReference,
    TupleValue,
    Unknown,
    Value,
)
from tsguard.analysis.worlds import Asked
from tsguard.report.records import dataclass, replace
from tsguard.source.functions import FunctionNode

_Pairs = tuple[tuple[tuple[Question, Question], int], ...]


@dataclass(frozen=True, eq=False, slots=True)
class _Call:
    """A call that ``asked`` the world so, and what came of it: a value that nobody can change, or what it raised, and
    what it changed of the state that modules share; ``followed`` counts the questions asked after one another in one test.
    """

    asked: tuple[Asked, ...]
    outcome: Value | Raised
    changes: Changes | None
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
            return _repeated(interp, call)
    before, read, shared = dict(world.followed), interp.frames_read, interp.program.shared_state
    version = shared.version
    outcome: Value | Raised
    with works.counted(world) as counts, world.heard() as asked:
        try:
            outcome = run()
        except Raised as raised:
            outcome = raised
    is_kept = _is_fixed(outcome) and interp.frames_read == read and len(calls) < REMEMBERED_CALLS
    if is_kept and _given(interp, args, kwargs) == key[0]:
        changes = None if shared.version == version else shared.changes()
        if changes is None or not any(isinstance(value, CHANGEABLE) for value in (*args, *kwargs.values())):
            followed = tuple((Counter(world.followed) - Counter(before)).items())
            _keep(interp, calls, _Call(tuple(asked), _again(outcome), changes, counts, followed))
    if isinstance(outcome, Raised):
        raise outcome
    return outcome


def _keep(interp: Interpreter, calls: list[_Call], call: _Call) -> None:
    """Remember a call, unless it put what was there before where it is to be put again: that would be a copy."""
    shared, copying = interp.program.shared_state, Copying()
    if call.changes is not None:
        call = replace(call, changes=call.changes.mapped(copying.copy))
        if not copying.is_exact or not copying.is_whole or copying.is_any(shared.defines):
            return
        shared.version = call
    calls.append(call)


def _repeated(interp: Interpreter, call: _Call) -> Value:
    works.count_again(interp, call.counts)
    world, program = interp.world, interp.program
    for pair, times in call.followed:
        world.followed[pair] = world.followed.get(pair, 0) + times
    if call.changes is not None:
        program.shared_state.change(call.changes.mapped(Copying().copy), call)
        program.members.clear()
    outcome = _again(call.outcome)
    if isinstance(outcome, Raised):
        raise outcome
    return outcome


def _again(outcome: Value | Raised) -> Value | Raised:
    """The same for another call: what nothing is known of is not the same twice."""
    if isinstance(outcome, Raised):
        return outcome.again()
    return replace(outcome) if isinstance(outcome, Unknown) and outcome.term is None else outcome


def _is_fixed(value: Value | Raised) -> bool:
    """Whether what a call gives is the same for all who get it: nobody can change it."""
    if isinstance(value, TupleValue):
        return all(_is_fixed(item) and not _is_untold(item) for item in value.items)
    if type(value) is Unknown:
        return value.default is None or _is_fixed(value.default)
    if isinstance(value, FunctionValue):
        return not is_closure(value)
    return isinstance(value, (Atom, ClassValue, Const, EnumMember, External, ModuleReference, Raised))


def _is_untold(value: Value) -> bool:
    return isinstance(value, Unknown) and value.term is None


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
    loops = (interp.open_loops, interp.outer_loops, interp.branches > 0, interp.repeats)
    return (given, interp.world.manner, interp.tries > 0, interp.guards > 0, loops, function, shared.version)


def _given(interp: Interpreter, args: list[Value], kwargs: dict[str, Value]) -> Hashable | None:
    keys = constructions.keys_of((*args, *kwargs.values()), count(), interp.program.shared_state.holds)
    return None if keys is None else (keys, *kwargs)
