"""The trace judge: what ``torch.jit.trace`` would bake or refuse, with default arguments."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import field
from functools import partial
from types import MappingProxyType

from tsguard.analysis import unread
from tsguard.analysis.events import Event, Gap
from tsguard.analysis.exploration import Way, always, first_made
from tsguard.analysis.kinds import kinds_of
from tsguard.analysis.otherwise import First, Looked, Otherwise, away_otherwise, looked_at_otherwise
from tsguard.analysis.python import Program, PythonInterpreter
from tsguard.analysis.subjects import Built, built, unread_classes, used_up
from tsguard.analysis.terms import Question
from tsguard.analysis.trace.inputs import Given
from tsguard.analysis.trace.rulebook import OMITTED, raises_in_trace, rests_on_size
from tsguard.analysis.trace.shapes.facts import Facts
from tsguard.analysis.trace.walk import TraceResult, trace_target
from tsguard.analysis.values import Value
from tsguard.analysis.worlds import BudgetExceeded, Uncallable, World, terms_of
from tsguard.judges.export import ExportOutcome, judge_export
from tsguard.project import Target
from tsguard.report import TraceVerdict
from tsguard.report.records import dataclass, replace
from tsguard.rules import holds, rule

_MOST_WALKS = 4
# Which optional inputs are tried one after the other where a forward raises without the others.
_GIVEN: tuple[Given, ...] = ("none", "all", 0, 1, 2)
_MOST_RANKS = 3
_BY_RANK = "whether torch.export takes it depends on the number of dimensions of an input, which the source does not tell"


@dataclass(frozen=True, slots=True)
class TraceOutcome:
    """The verdict and the events that it rests on."""

    verdict: TraceVerdict
    events: tuple[Event, ...] = ()
    gaps: tuple[Gap, ...] = ()
    export: ExportOutcome = field(default_factory=ExportOutcome)
    when: Mapping[Hashable, str] = field(default_factory=dict)
    """Under what condition the events of these keys are there, where another answer to a guess takes them away."""


def judge_trace(program: Program, target: Target) -> TraceOutcome:
    """Follow a target's forward with tensors of unknown content.

    What it asks of its inputs shows on the way: where that may settle a hazard, the forward
    is followed again with it.  One that raises without its optional tensors is followed with them,
    and where it goes other ways by the rank of an input, each rank is looked at by itself.
    What is safe with the defaults of its constructor's parameters is followed with other arguments, too.
    """
    found = _followed_in_each_rank(program, target)
    if isinstance(found, TraceOutcome):
        return found
    walk = found.walk
    if not any(map(_is_hazard, walk.events)):
        exported = _exported(program, target, walk)
        look = partial(_looked, program, target, of_export=exported.verdict == "exports")
        if walk.gaps and exported.verdict != "exports":
            return TraceOutcome("unknown", walk.events, walk.gaps, exported)
        other = looked_at_otherwise(program, target, found.first, look)
        exported = _otherwise_exported(exported, other)
        if walk.gaps:
            return TraceOutcome("unknown", walk.events, walk.gaps, exported)
        when: dict[Hashable, str] = {event.key: text for event, text in other.events if _is_hazard(event)}
        events = (*walk.events, *(event for event, _ in other.events if _is_hazard(event)))
        gaps = other.gaps if other.open is None else (_open(target, other.open),)
        verdict: TraceVerdict = "depends" if when else "unknown" if gaps else "safe"
        return TraceOutcome(verdict, events, gaps, exported, when)
    from tsguard.judges.parts import script_parts  # for the few that are hazardous

    advice = script_parts(program, target, found.first.world, found.subject, walk)
    exported = _exported(program, target, walk)
    hazards = tuple(filter(_is_hazard, walk.events))
    look = partial(_looked, program, target)
    away = away_otherwise(program, target, found.first, look, hazards)
    conditions = {
        key: " and ".join(filter(None, [away.when.get(key), walk.when.get(key)]))
        for key in dict.fromkeys((*walk.when, *away.when))
    }
    is_always = not away.is_free and always(way for event in hazards for way in walk.ways[event.key])
    events = (*walk.events, *filter(None, [advice]))
    return TraceOutcome("hazardous" if is_always else "depends", events, walk.gaps, exported, conditions)


def _open(target: Target, way: Way) -> Gap:
    return Gap(target.module, target.line, f"it is hazardous if {way}, which the source does not tell")


def _followed_in_each_rank(
    program: Program, target: Target, given: Mapping[Question, bool] = MappingProxyType({})
) -> _Followed | TraceOutcome:
    found = _followed(program, target, Facts(), given=given)
    if isinstance(found, TraceOutcome):
        return found
    is_open = bool(found.walk.gaps or found.walk.doubtful) or any(map(_is_hazard, found.walk.events))
    if is_open and found.walk.asked_ranks is not None:
        return _of_each_rank(program, target, found, given) or found
    return found


def _looked(program: Program, target: Target, made: Built, *, of_export: bool = False) -> Looked:
    """What another world shows of the trace, and ``of_export`` what torch.export does not take there.

    Raises:
        Uncallable: what it makes cannot be called.
    """
    found = _followed_in_each_rank(program, target, made.world.given)
    if isinstance(found, TraceOutcome):
        return Looked(gaps=found.gaps)
    walk = found.walk
    if walk.raised:
        raise Uncallable
    made.world.resume(found.first.world)
    events = tuple(filter(_is_hazard, walk.events))
    if of_export and not walk.asks_for_run:
        exported = judge_export(program, target, walk)
        events += exported.events if exported.verdict in ("refused", "specialised") else ()
    return Looked(events, walk.gaps, walk.when, found.first.asked, walk.ran)


def _otherwise_exported(exported: ExportOutcome, other: Otherwise) -> ExportOutcome:
    """What torch.export takes with the defaults of a constructor is unknown where it does not with other arguments."""
    for event, when in other.events:
        outcome = rule(event.rule).outcome
        if not _is_hazard(event) and exported.verdict == "exports":
            does = "refuses it" if outcome == "refused" else "holds the example's values"
            gap = Gap(event.module, event.span.line, f"torch.export {does} when {when}")
            return replace(exported, verdict="unknown", dynamic="unknown", gaps=(gap,))
    return exported


def _exported(program: Program, target: Target, walk: TraceResult) -> ExportOutcome:
    """What torch.export makes of a forward: one that asks which kind of run it is, is followed once more.

    So is one whose inputs turned out to be numbers, and one that is refused for inputs of some dtypes:
    where it is for floats, too, it is for all.
    """
    if program.open_sizes is None:
        return ExportOutcome()
    if walk.asks_for_run or walk.numbers:
        found = _followed(program, target, Facts(numbers=walk.numbers), is_export=True)
        if isinstance(found, TraceOutcome):
            return found.export
        walk = found.walk
    outcome = judge_export(program, target, walk)
    if outcome.verdict != "unknown" or not walk.by_kind:
        return outcome
    found = _followed(
        program, target, Facts(dtype="float32", numbers=walk.numbers), is_export=walk.asks_for_run
    )
    of_floats = found.export if isinstance(found, TraceOutcome) else judge_export(program, target, found.walk)
    return of_floats if of_floats.verdict == "refused" else outcome


@dataclass(frozen=True, slots=True)
class _Followed:
    """A forward that has been followed, in which world and of what."""

    first: First
    subject: Value
    walk: TraceResult


def _followed(
    program: Program,
    target: Target,
    facts: Facts,
    *,
    is_export: bool = False,
    given: Mapping[Question, bool] = MappingProxyType({}),
) -> _Followed | TraceOutcome:
    """What a forward does once settled what the inputs are; a verdict where there is none."""
    plain: TraceResult | None = None
    for optional in _GIVEN:
        found = _settled(program, target, facts, optional, given, is_export=is_export)
        if isinstance(found, TraceOutcome) or not found.walk.raised:
            return found
        if plain is None and not _may_need_optional_inputs(found.walk):
            return found
        plain = plain or found.walk
    assert plain is not None
    judged = judge_export if is_export else _exported
    return TraceOutcome("unknown", plain.events, plain.gaps, judged(program, target, plain))


def _settled(
    program: Program,
    target: Target,
    facts: Facts,
    optional: Given,
    given: Mapping[Question, bool],
    *,
    is_export: bool,
) -> _Followed | TraceOutcome:
    """The last of as many walks as settle the sizes of the inputs."""
    for _ in range(_MOST_WALKS):
        try:
            first = _walked(program, target, facts, optional, given, is_export=is_export)
        except BudgetExceeded:
            return _unknown(target, "it is too large to be analysed completely")
        if first is None:
            gap = unread.never_made(target)
            return TraceOutcome("unknown", gaps=(gap,), export=ExportOutcome(gaps=(gap,)))
        _, (followed, subject, walk) = first
        if walk.raised or walk.facts == facts or not any(rests_on_size(e.rule) for e in walk.events):
            break
        facts = walk.facts
    return _Followed(followed, subject, walk)


def _of_each_rank(
    program: Program, target: Target, found: _Followed, given: Mapping[Question, bool]
) -> _Followed | None:
    """What goes wrong with an input of one rank, of another, ...; None where none of them is taken."""
    taken: list[_Followed] = []
    scalars: list[_Followed] = []  # whose sizes show nothing
    rest: _Followed | None = found
    for _ in range(_MOST_RANKS):
        if rest is None or rest.walk.asked_ranks is None:
            break
        tensor, asked = rest.walk.asked_ranks
        known = rest.walk.facts.other_ranks.get(tensor, frozenset())
        ranks = [rank for rank in asked if rank not in known]
        if not ranks:
            break
        for rank in ranks[:_MOST_RANKS]:
            facts = rest.walk.facts.copy()
            facts.has_rank(tensor, rank)
            (taken if rank else scalars).extend(filter(None, [_accepted(program, target, facts, given)]))
        facts = rest.walk.facts.copy()
        facts.other_ranks[tensor] = known.union(ranks)
        rest = _accepted(program, target, facts, given)
    taken += [*filter(None, [rest]), *scalars]
    if not taken:
        return None
    worst = next((one for one in taken if any(map(_is_hazard, one.walk.events))), taken[0])
    walk = worst.walk.together([one.walk for one in taken if one is not worst])
    if len({judge_export(program, target, one.walk).verdict == "refused" for one in taken}) > 1:
        gap = Gap(target.module, target.line, _BY_RANK)
        walk = replace(walk, exports=(), doubtful=(), export_gaps=(*walk.export_gaps, gap))
    return replace(worst, walk=walk)


def _accepted(
    program: Program, target: Target, facts: Facts, given: Mapping[Question, bool]
) -> _Followed | None:
    """What follows from facts; None where eager takes no such inputs."""
    found = _followed(program, target, facts, given=given)
    return found if isinstance(found, _Followed) and not found.walk.raised else None


def _walked(
    program: Program,
    target: Target,
    facts: Facts,
    optional: Given,
    given: Mapping[Question, bool],
    *,
    is_export: bool,
) -> tuple[World, tuple[First, Value, TraceResult]] | None:
    def run(world: World) -> tuple[First, Value, TraceResult]:
        interp = PythonInterpreter(program, world)
        subject = built(interp, target)
        kinds = kinds_of(subject, of_layers=False)
        try:
            with world.heard() as asked:
                walk = trace_target(interp, target, subject, facts, optional, is_export=is_export)
        finally:
            used_up(program, subject)
        walk = walk.of_rules(lambda name: holds(name, program.tables.release))
        if any(raises_in_trace(event.rule) for event in walk.events):  # what is not made is not saved
            walk = walk.of_rules(lambda name: rule(name).outcome != "unsaveable")
        walk = replace(walk, gaps=(*walk.gaps, *unread_classes(interp, subject)))
        return First(world, kinds, terms_of(asked), of_layers=False), subject, walk

    return first_made(run, ("strict", "wary"), given)


def _may_need_optional_inputs(walk: TraceResult) -> bool:
    """Whether a walk ends in an error, for no other reason that shows than an optional input left out."""
    left_out = walk.raised and any(event.rule == OMITTED for event in walk.events)
    return left_out and not any(map(_is_hazard, walk.events))


def _is_hazard(event: Event) -> bool:
    return rule(event.rule).outcome == "hazardous"


def _unknown(target: Target, why: str) -> TraceOutcome:
    gap = Gap(target.module, target.line, why)
    return TraceOutcome("unknown", gaps=(gap,), export=ExportOutcome(gaps=(gap,)))
