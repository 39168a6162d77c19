"""The export judge: what ``torch.export`` makes of the forward that the tracer has followed."""

from __future__ import annotations

from tsguard.analysis.events import Event, Gap
from tsguard.analysis.trace import Walk
from tsguard.language.rule_names import RuleName
from tsguard.report import ExportVerdict, FixedDimension
from tsguard.report.records import dataclass
from tsguard.rules import rule

# What is frozen in a trace without a warning is in an exported program, too.
_HELD: dict[RuleName, RuleName] = {
    "state-in-forward": "held-value/state",
    "untraced-value/random": "held-value",
    "untraced-value/clock": "held-value",
    "untraced-value/global": "held-value",
}


@dataclass(frozen=True, slots=True)
class ExportOutcome:
    """The verdicts for static shapes and for open dimensions, and what they rest on."""

    verdict: ExportVerdict = "unknown"
    dynamic: ExportVerdict = "unknown"
    fixed: tuple[FixedDimension, ...] = ()
    events: tuple[Event, ...] = ()
    gaps: tuple[Gap, ...] = ()


def judge_export(walk: Walk) -> ExportOutcome:
    """What one walk shows; a target that was not followed to its end is unknown, unless it is refused."""
    events = (*walk.exports, *(_held(event) for event in walk.events if event.rule in _HELD))
    outcomes = {rule(event.rule).outcome for event in events}
    verdict: ExportVerdict
    if "refused" in outcomes:
        verdict = "refused"
    elif walk.gaps:
        verdict = "unknown"
    else:
        verdict = "specialised" if "specialised" in outcomes else "exports"
    return ExportOutcome(verdict, verdict, (), events, walk.gaps if verdict == "unknown" else ())


def _held(event: Event) -> Event:
    return Event(_HELD[event.rule], event.module, event.span, event.facts, event.chain)
