"""The mode judge: whether train(), eval(), chance or earlier calls change what a target returns."""

from __future__ import annotations

from collections.abc import Iterator

from tsguard.analysis import unread
from tsguard.analysis.events import Event, Gap
from tsguard.analysis.guesses import made_otherwise
from tsguard.analysis.mode import ModeInterpreter, follow
from tsguard.analysis.python import Program, PythonInterpreter
from tsguard.analysis.subjects import first_built, unread_classes
from tsguard.analysis.values import ClassValue, External, ModuleValue
from tsguard.analysis.worlds import BudgetExceeded
from tsguard.project import Target
from tsguard.report import Layer, ModeVerdict
from tsguard.report.records import dataclass
from tsguard.rules import holds, rule


@dataclass(frozen=True, slots=True)
class ModeOutcome:
    """The verdict, the layers that depend on the mode, and the events with their conditions."""

    verdict: ModeVerdict
    layers: tuple[Layer, ...] = ()
    events: tuple[tuple[Event, str | None], ...] = ()
    gaps: tuple[Gap, ...] = ()


def judge_mode(program: Program, target: Target) -> ModeOutcome:
    """Follow a target as its constructor's defaults make it."""
    try:
        built = first_built(program, target)
    except BudgetExceeded:
        return _unknown(target, "it is too large to be analysed completely")
    if built is None:
        return ModeOutcome("unknown", gaps=(unread.never_made(target),))
    with program.followed():
        walk = follow(program, target, built.world, built.value)
    release = program.tables.release
    always = tuple((event, None) for event in walk.events.values() if holds(event.rule, release))
    conditional = (pair for pair in walk.conditional.values() if holds(pair[0].rule, release))
    depending = any(rule(event.rule).outcome == "dependent" for event, _ in always)
    gaps = (*walk.gaps.values(), *unread_classes(PythonInterpreter(program, built.world), built.value))
    if not depending and not gaps:
        gaps = tuple(_otherwise_dependent(program, target))
    verdict: ModeVerdict = "dependent" if depending else "unknown" if gaps else "independent"
    return ModeOutcome(verdict, _layers(walk), (*always, *conditional), gaps)


def _otherwise_dependent(program: Program, target: Target) -> Iterator[Gap]:
    """Why the mode may matter by another answer to a guess than the one that was taken, if it may."""
    for way, built in made_otherwise(program, target):
        if isinstance(built, Gap):
            yield built
            continue
        with program.followed():
            walk = follow(program, target, built.world, built.value)
        events = (event for event in walk.events.values() if holds(event.rule, program.tables.release))
        if any(rule(event.rule).outcome == "dependent" for event in events):
            yield Gap(
                target.module, target.line, f"it depends on the mode if {way}, which the source does not tell"
            )
            return
        yield from walk.gaps.values()


def _unknown(target: Target, why: str) -> ModeOutcome:
    return ModeOutcome("unknown", gaps=(Gap(target.module, target.line, why),))


def _layers(walk: ModeInterpreter) -> tuple[Layer, ...]:
    """The modules that depend on the mode, by their paths; the target itself is none of them."""
    paths = ((walk.tree.path(module), module) for module in walk.layers)
    return tuple(
        Layer(path, _type(module)) for path, module in sorted(paths, key=lambda p: _order(p[0])) if path
    )


def _order(path: str | None) -> tuple[tuple[int, int | str], ...]:
    """Paths as one reads them: ``layers.2`` before ``layers.10``."""
    return tuple((0, int(part)) if part.isdigit() else (1, part) for part in (path or "").split("."))


def _type(module: ModuleValue) -> str:
    if isinstance(module.cls, ClassValue):
        return f"{module.cls.module.name}.{module.cls.name}"
    return module.cls.name if isinstance(module.cls, External) else "?"
