"""The mode judge: whether train(), eval(), chance or earlier calls change what a target returns."""

from __future__ import annotations

from functools import partial

from tsguard.analysis import unread
from tsguard.analysis.events import Event, Gap
from tsguard.analysis.exploration import Way
from tsguard.analysis.kinds import kinds_of
from tsguard.analysis.mode import ModeInterpreter, follow
from tsguard.analysis.otherwise import First, Looked, away_otherwise, looked_at_otherwise
from tsguard.analysis.python import Program, PythonInterpreter
from tsguard.analysis.subjects import Built, first_built, unread_classes
from tsguard.analysis.values import ClassValue, External, ModuleValue
from tsguard.analysis.worlds import BudgetExceeded, terms_of
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
    """Follow a target as its constructor's defaults make it, then, where it is promised not to depend on the mode,
    as other arguments do."""
    try:
        built = first_built(program, target)
    except BudgetExceeded:
        return _unknown(target, "it is too large to be analysed completely")
    if built is None:
        return ModeOutcome("unknown", gaps=(unread.never_made(target),))
    kinds = kinds_of(built.value, of_layers=True)
    with program.followed(), built.world.heard() as asked:
        walk = follow(program, target, built.world, built.value)
    first = First(built.world, kinds, terms_of(asked), of_layers=True)
    look = partial(_looked, program, target)
    release = program.tables.release
    events = _events(program, walk)
    conditional = tuple(pair for pair in walk.conditional.values() if holds(pair[0].rule, release))
    gaps = (*walk.gaps.values(), *unread_classes(PythonInterpreter(program, built.world), built.value))
    if any(map(_is_dependent, events)):
        away = away_otherwise(program, target, first, look, filter(_is_dependent, events))
        told = (*((event, away.when.get(event.key)) for event in events), *conditional)
        return ModeOutcome("depends" if away.is_free else "dependent", _layers(walk), told, gaps)
    told = (*((event, None) for event in events), *conditional)
    if not gaps:
        other = looked_at_otherwise(program, target, first, look)
        known = {event.key for event, _ in told}
        told = (*told, *(pair for pair in other.events if pair[0].key not in known))
        gaps = other.gaps if other.open is None else (_open(target, other.open),)
    is_sometimes = any(_is_dependent(event) for event, _ in told)
    verdict: ModeVerdict = "depends" if is_sometimes else "unknown" if gaps else "independent"
    return ModeOutcome(verdict, _layers(walk), told, gaps)


def _events(program: Program, walk: ModeInterpreter) -> tuple[Event, ...]:
    return tuple(event for event in walk.events.values() if holds(event.rule, program.tables.release))


def _is_dependent(event: Event) -> bool:
    return rule(event.rule).outcome == "dependent"


def _looked(program: Program, target: Target, made: Built) -> Looked:
    """What another world shows of the mode."""
    with program.followed(), made.world.heard() as asked:
        walk = follow(program, target, made.world, made.value)
    gaps = (*walk.gaps.values(), *unread_classes(PythonInterpreter(program, made.world), made.value))
    ran = frozenset(module.cls for module, _ in walk.done)
    return Looked(tuple(filter(_is_dependent, _events(program, walk))), gaps, asked=terms_of(asked), ran=ran)


def _open(target: Target, way: Way) -> Gap:
    why = f"it depends on the mode if {way}, which the source does not tell"
    return Gap(target.module, target.line, why)


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
