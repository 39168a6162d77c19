"""What is done once for all targets, and counted for each as if it had done it itself.

What a target's steps allow must not hang on which targets were judged before it: the first time that
one meets what is known already, that counts as the steps it took; from then on as those of a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.python.copies import Copying
from tsguard.analysis.values import Value
from tsguard.analysis.worlds import Asked, Work, World


@dataclass(slots=True)
class Done:
    """What came of a work that ``asked`` the world so, and got these answers."""

    asked: tuple[Asked, ...]
    value: Value
    work: Work


def once(
    interp: Interpreter,
    known: list[Done],
    do: Callable[[], Value],
    is_still: Callable[[], bool] = lambda: True,
) -> Value:
    """A copy of what is ``known`` to come of it in a world of the same answers, or what ``do`` gives.

    That is known from then on if ``is_still`` what was to be done: it has not changed what it was given.
    """
    for done in known:
        if interp.world.agrees(done.asked):
            return _again(interp, done)
    world = interp.world
    before = (world.spent, world.worked)
    with counted(world) as counts, world.heard() as asked:
        value = do()
    copying = Copying()
    twin = copying.copy(value)
    if copying.is_whole and is_still():
        work = Work(counts.own, tuple(counts.within), copying.modules)
        known.append(Done(tuple(asked), twin, work))
        del world.works[len(world.works) - len(counts.within) :]
        world.done.add(work)
        _note(interp, work, before)
    return value


@dataclass(slots=True)
class Counts:
    """The steps of something that was done: its ``own``, and the works ``within`` it."""

    own: int = 0
    within: list[Work] = field(default_factory=list)


@contextmanager
def counted(world: World) -> Iterator[Counts]:
    """Count the steps of what is done meanwhile."""
    counts = Counts()
    outer, before = world.works, world.spent - world.worked
    world.works = counts.within
    try:
        yield counts
    finally:
        world.works = outer
        outer += counts.within
        counts.own = (world.spent - world.worked) - before


def count_again(interp: Interpreter, counts: Counts) -> None:
    """Count the steps of something as if it were done again."""
    interp.spend(counts.own)
    for work in counts.within:
        before = (interp.world.spent, interp.world.worked)
        _count(interp, work)
        _note(interp, work, before)


def _again(interp: Interpreter, done: Done) -> Value:
    before = (interp.world.spent, interp.world.worked)
    _count(interp, done.work)
    _note(interp, done.work, before)
    return Copying().copy(done.value)


def _count(interp: Interpreter, work: Work) -> None:
    """Count the steps that a work takes a target that has done it, or has not."""
    if work in interp.world.done:
        interp.spend(work.again)
        return
    interp.world.done.add(work)
    interp.spend(work.own)
    for inner in work.within:
        _count(interp, inner)


def _note(interp: Interpreter, work: Work, before: tuple[int, int]) -> None:
    """Note that a work is done, within the one that is going on; before it these were the steps spent."""
    world = interp.world
    world.worked = before[1] + world.spent - before[0]
    world.works.append(work)
