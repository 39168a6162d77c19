"""A target as it is made where an argument that nothing tells is not what was guessed of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsguard.analysis.exploration import Way, turned_guesses
from tsguard.analysis.python import PythonInterpreter
from tsguard.analysis.python.library import descendants
from tsguard.analysis.subjects import Built, built, first_built
from tsguard.analysis.values import ModuleValue, Value
from tsguard.analysis.worlds import BudgetExceeded, Impossible, World

if TYPE_CHECKING:
    from tsguard.analysis.python.program import Program
    from tsguard.project import Target


def made_otherwise(program: Program, target: Target) -> Iterator[tuple[Way, Built]]:
    """What other answers to guesses make of a target, as far as that brings modules of other classes."""

    def run(world: World) -> Value:
        try:
            return built(PythonInterpreter(program, world), target)
        except BudgetExceeded:
            raise Impossible from None

    first = first_built(program, target)
    if first is None:
        return
    known = _classes(first.value)
    for way, world, value in turned_guesses(run, first.world):
        new = _classes(value) - known
        if new:
            known |= new
            yield way, Built(world, value)


def _classes(value: Value) -> set[Value]:
    modules = descendants(value) if isinstance(value, ModuleValue) else ()
    return {module.cls for _, module in modules}
