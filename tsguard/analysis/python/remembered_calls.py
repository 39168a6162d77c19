"""Calls made before: what a function gave for arguments like these, while what modules define is as they define it.

Its steps count each time, as if it ran again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from itertools import count

from tsguard.analysis.budgets import DEEPEST_CONSTRUCTION, REMEMBERED_CALLS
from tsguard.analysis.python import constructions, works
from tsguard.analysis.python.context import Interpreter, Raised
from tsguard.analysis.python.copies import Copying, is_closure
from tsguard.analysis.python.keeping import Kept
from tsguard.analysis.values import DictValue, FunctionValue, ListValue, ObjectValue, SetValue, Value
from tsguard.analysis.terms import Question
from tsguard.analysis.worlds import Asked
from tsguard.report.records import dataclass
from tsguard.source.functions import FunctionNode

_Pairs = tuple[tuple[tuple[Question, Question], int], ...]


@dataclass(frozen=True, slots=True)
class _Call:
    """A call that ``asked`` the world so, and what came of it: a value, or what it raised.

    ``followed`` counts the questions that were asked after one another in one test.
    """

    asked: tuple[Asked, ...]
    outcome: Value | Raised
    counts: works.Counts
    followed: _Pairs


CALLS: Kept[tuple[FunctionNode, Hashable], list[_Call]] = Kept()
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
    before, read = dict(world.followed), interp.frames_read
    outcome: Value | Raised
    with works.counted(world) as counts, world.heard() as asked:
        try:
            outcome = run()
        except Raised as raised:
            outcome = raised
    kept = _copy(interp, outcome, (*args, *kwargs.values()))
    if (
        kept is not None
        and interp.frames_read == read
        and len(calls) < REMEMBERED_CALLS
        and _key(interp, function, args, kwargs) == key
    ):
        followed = tuple((Counter(world.followed) - Counter(before)).items())
        calls.append(_Call(tuple(asked), kept, counts, followed))
    if isinstance(outcome, Raised):
        raise outcome
    return outcome


def _again(interp: Interpreter, call: _Call) -> Value:
    works.count_again(interp, call.counts)
    world = interp.world
    for pair, times in call.followed:
        world.followed[pair] = world.followed.get(pair, 0) + times
    if isinstance(call.outcome, Raised):
        raise call.outcome.again()
    return Copying().copy(call.outcome)


def _key(
    interp: Interpreter, function: FunctionValue, args: list[Value], kwargs: dict[str, Value]
) -> Hashable | None:
    """What calls have in common that a function cannot tell apart; None where it may see, or change, more than that."""
    shared = interp.program.shared_state
    if interp.is_defining or interp.depth > DEEPEST_CONSTRUCTION or shared.is_changed or is_closure(function):
        return None
    if interp.program.patches or (function.node, function.scope) in interp.active:
        return None
    given = constructions.keys_of((*args, *kwargs.values()), count(), shared.holds)
    if given is None:
        return None
    loops = (interp.open_loops, interp.outer_loops, interp.branches > 0)
    return (interp.world.manner, interp.tries > 0, interp.guards > 0, loops, function, given, *kwargs)


def _copy(interp: Interpreter, outcome: Value | Raised, given: Iterable[Value]) -> Value | Raised | None:
    """An outcome that later calls may have; None where it is, or holds, what was there before the call."""
    if isinstance(outcome, Raised):
        return outcome.again()
    copying = Copying()
    twin = copying.copy(outcome)
    if not copying.is_whole or not copying.values:
        return twin if copying.is_whole else None
    changeable = [value for value in given if isinstance(value, _CHANGEABLE)]
    is_new = not any(map(copying.has, changeable)) and not copying.is_any(interp.program.shared_state.holds)
    return twin if is_new else None


_CHANGEABLE = (DictValue, ListValue, ObjectValue, SetValue)
