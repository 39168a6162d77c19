"""Calls that were followed before: one that showed nothing shows nothing again where it is given the same.

A function that is given values alone, and that reports nothing, changes nothing of what was there before it
and rests on nothing but what is noted here, is followed once.  Its steps count each time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING

from tsguard.analysis.budgets import DEEPEST_CALL, REPEATED_CALLS
from tsguard.analysis.mode.alike import Again, Given
from tsguard.analysis.mode.recording import Recording
from tsguard.analysis.python import kept_calls
from tsguard.analysis.python.keeping import Kept
from tsguard.analysis.values import FunctionValue, Value
from tsguard.report.records import dataclass

if TYPE_CHECKING:
    from tsguard.analysis.mode.context import ModeInterpreter
    from tsguard.analysis.worlds import Asked


@dataclass(eq=False, slots=True)
class _Call:
    """What a call came upon, asked the world and read, what it gave of what it was ``given``, and its steps;
    ``height`` is how many calls within calls it takes."""

    met: Recording
    height: int
    asked: tuple[Asked, ...]
    read: frozenset[str]
    given: tuple[Value, ...]
    value: Value
    steps: int

    def holds(self, walk: ModeInterpreter) -> bool:
        """Whether it would come upon the same here."""
        return (
            walk.depth + self.height <= DEEPEST_CALL
            and self.met.functions.isdisjoint(frame.function for frame in walk.frames)
            and self.met.is_as_met
            and walk.world.agrees(self.asked)
        )

    def again(self, given: list[Value]) -> Value:
        """What it gives of values that are alike."""
        twins = {id(old): new for old, new in zip(self.given, given, strict=True)}
        made = Again({**self.met.before, **twins}).copy(self.value)
        assert made is not None
        return made


CALLS: Kept[tuple[Hashable, ...], tuple[_Call, ...]] = Kept()
"""What came of calls that are alike, the function's node first."""


def followed(
    walk: ModeInterpreter,
    function: FunctionValue,
    args: list[Value],
    kwargs: dict[str, Value],
    run: Callable[[], Value],
) -> Value:
    """What ``run`` gives, or what it gave before for what is alike."""
    if walk.recording is not None and _is_kept_otherwise(function, args, kwargs):
        walk.recording.is_whole = False
    given = Given()
    key = _key(walk, function, args, kwargs, given)
    if key is None:
        return run()
    known, outer = CALLS.of(walk.program), walk.recording
    calls = known.get(key, ())
    for call in calls:
        if call.holds(walk):
            walk.spend(call.steps)
            walk.read |= call.read
            if outer is not None:
                outer.include(call.met)
            return call.again(given.parts)
    recording = walk.recording = Recording(walk.depth)
    read, walk.read = walk.read, set()
    changes, works, spent, depth = walk.changes, len(walk.world.works), walk.world.spent, walk.depth
    try:
        with walk.world.heard() as asked:
            value = run()
    finally:
        walk.recording, found = outer, walk.read
        walk.read = read | found
        if outer is not None:
            outer.include(recording)
    is_same = len(walk.world.works) == works and _is_as_defined(walk) and recording.is_as_met
    if not (recording.is_whole and is_same and _key(walk, function, args, kwargs, Given()) == key):
        return value
    parts = {id(part): part for part in given.parts}
    made = Again({**recording.before, **parts}).copy(value)
    height = recording.depth - depth + 1
    is_free = recording.functions.isdisjoint(frame.function for frame in walk.frames)
    if made is not None and is_free and depth + height <= DEEPEST_CALL:
        walk.changes = changes  # only what the call itself has made was changed
        if len(calls) < REPEATED_CALLS:
            steps = walk.world.spent - spent
            call = _Call(recording, height, tuple(asked), frozenset(found), tuple(given.parts), made, steps)
            known[key] = (*known.get(key, ()), call)
    return value


def _is_kept_otherwise(function: FunctionValue, args: list[Value], kwargs: dict[str, Value]) -> bool:
    """Whether what a call gives is one object for all who make it."""
    return "cached" in function.marks and kept_calls.key_of(function, args, kwargs) is not None


def _key(
    walk: ModeInterpreter,
    function: FunctionValue,
    args: list[Value],
    kwargs: dict[str, Value],
    given: Given,
) -> tuple[Hashable, ...] | None:
    """What two calls have in common that show the same; None where a call is given more than values."""
    if not function.scope.is_global or walk.program.is_generator(function) or not _is_as_defined(walk):
        return None
    alike = [given.key(value) for value in (*args, *kwargs.values())]
    if None in alike or _is_kept_otherwise(function, args, kwargs):
        return None
    own = walk.target.module
    owner = (own.root, own.is_installed, own.name.partition(".")[0])
    around = (walk.tries > 0, walk.open_loops > 0, walk.branches > 0, walk.catching > 0, walk.repeats)
    state = (walk.mode, walk.world.manner, around, owner)
    return (function.node, function.scope, state, len(args), *kwargs, *alike)


def _is_as_defined(walk: ModeInterpreter) -> bool:
    """Whether names of modules, and attributes of classes and functions, are as the modules have them."""
    return walk.program.shared_state.is_as_defined and not walk.program.patches
