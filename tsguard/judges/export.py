"""The export judge: what ``torch.export`` makes of the forward that the tracer has followed."""

from __future__ import annotations

from tsguard.analysis.events import Event, Gap
from tsguard.analysis.python import Program
from tsguard.analysis.trace.conditions import OPEN_SHAPES
from tsguard.analysis.trace.walk import TraceResult
from tsguard.language.releases import ways
from tsguard.language.rule_names import RuleName
from tsguard.project.targets import Target
from tsguard.report import CompileVerdict, ExportVerdict, FixedDimension
from tsguard.report.records import dataclass
from tsguard.rules import rule

# What is frozen in a trace without a warning is in an exported program, too.
_HELD: dict[RuleName, RuleName] = {
    "state-in-forward": "held-value/state",
    "untraced-value/random": "held-value",
    "untraced-value/clock": "held-value",
    "untraced-value/global": "held-value",
    "untraced-value/seed": "held-value/seed",
    "untraced-value/generator": "held-value/generator",
}
# What one call leaves for the next shows in no first call, whatever its sizes.
_LATER: frozenset[RuleName] = frozenset({"held-value/state", "held-value/data", "held-value/replaced"})
_BY_KIND = "whether torch.export takes it depends on the dtype of an input, which the source does not tell"
_BY_SIZE = "whether torch.export keeps every size open depends on a condition on sizes, of which the example takes one way"
_UNASKED = "what torch.export refuses is known for torch 2.13 and newer only"


@dataclass(frozen=True, slots=True)
class ExportOutcome:
    """The verdicts for static shapes and for open dimensions, and what they rest on."""

    verdict: ExportVerdict = "unknown"
    dynamic: ExportVerdict = "unknown"
    fixed: tuple[FixedDimension, ...] = ()
    events: tuple[Event, ...] = ()
    gaps: tuple[Gap, ...] = ()
    compile: CompileVerdict = "unknown"


def judge_export(program: Program, target: Target, walk: TraceResult) -> ExportOutcome:
    """What one walk shows; a target that was not followed to its end is unknown, unless it is refused.

    So is every target before torch 2.13: no rule of the family has been asked of those releases.
    """
    if not ways(program.tables.release).slices_by_data:
        return ExportOutcome(gaps=(Gap(target.module, target.line, _UNASKED),))
    held = (_held(event) for event in walk.events if event.rule in _HELD)
    refused_by_kind = [event for event in walk.by_kind if _counts(event)]
    sure = (*walk.exports, *(event for event in walk.by_kind if event not in refused_by_kind))
    events = (*sure, *(event for event in walk.doubtful if _counts(event)), *held)
    of_sizes = tuple(event for event in events if rule(event.rule).is_of_open_shapes)
    # For shapes that do not vary, torch.export takes the example's way.
    followed = (gap for gap in walk.gaps if gap.why != OPEN_SHAPES and gap.key not in walk.harmless)
    by_kind = (Gap(event.module, event.span.line, _BY_KIND) for event in refused_by_kind[:1])
    gaps = (*followed, *walk.export_gaps, *by_kind)
    outcomes = {rule(event.rule).outcome for event in events if event not in of_sizes}
    verdict = _verdict(outcomes, bool(gaps))
    of_all_sizes = {rule(event.rule).outcome for event in events if event.rule not in _LATER}
    dynamic = _verdict(of_all_sizes, bool(gaps))
    if dynamic == "exports" and any(rule(e.rule).is_of_open_shapes for e in walk.doubtful):
        dynamic, gaps = "unknown", (*gaps, Gap(target.module, target.line, _BY_SIZE))
    fixed = dict.fromkeys(
        FixedDimension(e.facts["source"], int(e.facts.get("dimension", 0)))
        for e in of_sizes
        if e.facts.get("source")
    )
    known = "unknown" not in (verdict, dynamic)
    compiled = _compiled(walk, events, bool(gaps))
    return ExportOutcome(verdict, dynamic, tuple(fixed), events, () if known else gaps, compiled)


def _compiled(walk: TraceResult, events: tuple[Event, ...], is_open: bool) -> CompileVerdict:
    """What ``torch.compile(fullgraph=True)`` does: no certain break is no break where all was followed."""
    if any(_said_of_compile(event) == "breaks" for event in (*walk.exports, *events)):
        return "breaks"
    if is_open or not walk.is_asked_of_compile:
        return "unknown"
    every = (*walk.exports, *walk.doubtful, *events)
    return "compiles" if all(_said_of_compile(event) == "follows" for event in every) else "unknown"


def _said_of_compile(event: Event) -> str:
    return event.facts.get("compile") or rule(event.rule).compiled(event.rule.partition("/")[2])


def _verdict(outcomes: set[str], is_open: bool) -> ExportVerdict:
    if "refused" in outcomes:
        return "refused"
    if is_open:
        return "unknown"
    return "specialised" if "specialised" in outcomes else "exports"


def _counts(event: Event) -> bool:
    """Whether what lies behind a condition on sizes counts: a way that most examples take, not one for other types."""
    page = rule(event.rule)
    return page.outcome == "refused" and page.counts_in_doubt


def _held(event: Event) -> Event:
    return Event(_HELD[event.rule], event.module, event.span, event.facts, event.chain)
