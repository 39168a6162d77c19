"""The trace judge: what ``torch.jit.trace`` would bake or refuse, with default arguments."""

from __future__ import annotations

from dataclasses import dataclass

from tsguard.analysis.events import Event, Gap
from tsguard.analysis.python import Interpreter, Program
from tsguard.analysis.subjects import built
from tsguard.analysis.trace import Walk, trace_target
from tsguard.analysis.values import Value
from tsguard.analysis.worlds import Exhausted, World, run_first
from tsguard.judges.parts import script_parts
from tsguard.project import Target
from tsguard.report import TraceVerdict
from tsguard.rules import rule


@dataclass(frozen=True, slots=True)
class TraceOutcome:
    """The verdict and the events that it rests on."""

    verdict: TraceVerdict
    events: tuple[Event, ...] = ()
    gaps: tuple[Gap, ...] = ()


def judge_trace(program: Program, target: Target) -> TraceOutcome:
    """Follow a target's forward with tensors of unknown content."""

    def run(world: World) -> tuple[Value, Walk]:
        interp = Interpreter(program, world)
        subject = built(interp, target)
        return subject, trace_target(interp, target, subject)

    try:
        first = run_first(run, World())
    except Exhausted:
        return _unknown(target, "it is too large to be followed to the end")
    if first is None:
        return _unknown(target, "its constructor always raises")
    world, (subject, walk) = first
    if not any(rule(event.rule).outcome == "hazardous" for event in walk.events):
        return TraceOutcome("unknown" if walk.gaps else "safe", walk.events, walk.gaps)
    advice = script_parts(program, target, world, subject, walk)
    return TraceOutcome("hazardous", (*walk.events, *filter(None, [advice])), walk.gaps)


def _unknown(target: Target, why: str) -> TraceOutcome:
    return TraceOutcome("unknown", gaps=(Gap(target.module, target.line, why),))
