"""The trace judge: what ``torch.jit.trace`` would bake or refuse, with default arguments."""

from __future__ import annotations

from dataclasses import replace

from tsguard.analysis.events import Event, Gap
from tsguard.analysis.python import Program, PythonInterpreter
from tsguard.analysis.subjects import built, forget, unread_classes
from tsguard.analysis.trace import Walk, trace_target
from tsguard.analysis.trace.rulebook import OMITTED, rests_on_size
from tsguard.analysis.trace.shapes.facts import Facts
from tsguard.analysis.values import Value
from tsguard.analysis.worlds import Exhausted, World, run_first
from tsguard.project import Target
from tsguard.report import TraceVerdict
from tsguard.report.records import dataclass
from tsguard.rules import holds, rule

_MOST_WALKS = 3


@dataclass(frozen=True, slots=True)
class TraceOutcome:
    """The verdict and the events that it rests on."""

    verdict: TraceVerdict
    events: tuple[Event, ...] = ()
    gaps: tuple[Gap, ...] = ()


def judge_trace(program: Program, target: Target) -> TraceOutcome:
    """Follow a target's forward with tensors of unknown content.

    What it asks of its inputs shows on the way: where that may settle a hazard, the forward
    is followed again with it.  One that raises without its optional tensors is followed with them.
    """
    facts = Facts()
    plain: Walk | None = None
    for _ in range(_MOST_WALKS):
        try:
            first = _walked(program, target, facts, plain is not None)
        except Exhausted:
            return _unknown(target, "it is too large to be followed to the end")
        if first is None:
            return _unknown(target, "its constructor always raises")
        world, (subject, walk) = first
        if walk.raised and plain is not None:
            return TraceOutcome("unknown", plain.events, plain.gaps)
        if _may_need_optional_inputs(walk):
            plain = walk
            forget(program)
            continue
        if walk.facts == facts or not any(rests_on_size(event.rule) for event in walk.events):
            break
        facts = walk.facts
        forget(program)
    if not any(map(_is_hazard, walk.events)):
        return TraceOutcome("unknown" if walk.gaps else "safe", walk.events, walk.gaps)
    from tsguard.judges.parts import script_parts  # for the few that are hazardous

    advice = script_parts(program, target, world, subject, walk)
    return TraceOutcome("hazardous", (*walk.events, *filter(None, [advice])), walk.gaps)


def _walked(
    program: Program, target: Target, facts: Facts, whole: bool
) -> tuple[World, tuple[Value, Walk]] | None:
    def run(world: World) -> tuple[Value, Walk]:
        interp = PythonInterpreter(program, world)
        subject = built(interp, target)
        walk = trace_target(interp, target, subject, facts, whole=whole)
        walk = walk.of_rules(lambda name: holds(name, program.tables.release))
        return subject, replace(walk, gaps=(*walk.gaps, *unread_classes(interp, subject)))

    return run_first(run, World())


def _may_need_optional_inputs(walk: Walk) -> bool:
    """Whether a walk ends in an error, for no other reason that shows than an optional input left out."""
    left_out = walk.raised and any(event.rule == OMITTED for event in walk.events)
    return left_out and not any(map(_is_hazard, walk.events))


def _is_hazard(event: Event) -> bool:
    return rule(event.rule).outcome == "hazardous"


def _unknown(target: Target, why: str) -> TraceOutcome:
    return TraceOutcome("unknown", gaps=(Gap(target.module, target.line, why),))
