"""What is done once for all targets, and counted for each as if it had done it itself.

What a target's steps allow must not hang on which targets were judged before it: the first time that
one meets what is known already, that counts as the steps it took; from then on as those of a copy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.python.copies import Copying
from tsguard.analysis.values import Value
from tsguard.analysis.worlds import Asked, Work


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
    outer, before = world.works, (world.spent, world.worked)
    world.works = []
    try:
        with world.heard() as asked:
            value = do()
    finally:
        within, world.works = world.works, outer
        outer += within
    copying = Copying()
    twin = copying.copy(value)
    if copying.is_whole and is_still():
        own = (world.spent - before[0]) - (world.worked - before[1])
        work = Work(own, tuple(within), copying.modules)
        known.append(Done(tuple(asked), twin, work))
        del outer[len(outer) - len(within) :]
        world.done.add(work)
        _note(interp, work, before)
    return value


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
