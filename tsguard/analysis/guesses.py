"""A target as it is made where an argument that nothing tells is not what was guessed of it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING

from tsguard.analysis.events import Gap
from tsguard.analysis.exploration import Way, turned_guesses
from tsguard.analysis.python import PythonInterpreter
from tsguard.analysis.python.library import descendants
from tsguard.analysis.subjects import Built, built, first_built
from tsguard.analysis.values import ModuleValue, Unknown, Value
from tsguard.analysis.worlds import BudgetExceeded, World

if TYPE_CHECKING:
    from tsguard.analysis.python.program import Program
    from tsguard.project import Target


def made_otherwise(program: Program, target: Target) -> Iterator[tuple[Way, Built | Gap]]:
    """What other answers to guesses make of a target, as far as that brings modules of other classes or what was
    not read; where that is too large to be made, a gap."""

    def run(world: World) -> Value | Gap:
        try:
            return built(PythonInterpreter(program, world), target)
        except BudgetExceeded:
            return Gap(target.module, target.line, "it is too large to be analysed completely")

    first = first_built(program, target)
    if first is None:
        return
    known = _parts(first.value)
    for way, world, value in turned_guesses(run, first.world):
        if isinstance(value, Gap):
            yield way, value
            continue
        new = _parts(value) - known
        if new:
            known |= new
            yield way, Built(world, value)


def _parts(value: Value) -> set[Hashable]:
    """The classes of the modules, and what was not read of what they hold."""
    modules = [module for _, module in descendants(value)] if isinstance(value, ModuleValue) else []
    held = (part for module in modules for part in (*module.attributes.values(), *module.children.values()))
    unread = (part.unread.key for part in held if isinstance(part, Unknown) and part.unread is not None)
    return {*(module.cls for module in modules), *unread}
