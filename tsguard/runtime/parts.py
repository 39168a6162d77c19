"""The breakdown of a target by submodule, asked of a worker."""

from __future__ import annotations

from dataclasses import replace

from tsguard.report import AttemptError, Breakdown
from tsguard.runtime.attempts import Bounds, Run, TargetAttempts
from tsguard.runtime.endings import crash_message, internal_failure, shown_error
from tsguard.runtime.events import BrokenDown, InternalError
from tsguard.runtime.task import Outcome, Task


def break_down(run: Run, found: TargetAttempts, bounds: Bounds) -> Breakdown | None:
    """Where the target's time goes; None for what is no module or could not be called.

    A worker that dies leaves the rows that it had sent, and a note of how it ended.
    """
    if not found.callable or found.subject.kind != "module":
        return None
    # Every distinct submodule takes its share of the time.
    settings = replace(bounds.settings, timing_seconds=4 * bounds.settings.timing_seconds)
    argument = {"subject": found.settled.to_json(), "settings": settings.to_json()}
    task = Task("tsguard.runtime.worker.breakdown:breakdown", argument, bounds.limits)
    outcome = run(task, None)
    events = [event for event in outcome.events if isinstance(event, BrokenDown)]
    known = _shown(events[-1].breakdown, found) if events else Breakdown()
    told = replace(known, note=known.note or _cut_short(outcome))
    return told if told.submodules or told.note else None


def _cut_short(outcome: Outcome) -> str | None:
    if outcome.ending != "finished":
        return crash_message(outcome)
    failed = next((event for event in outcome.events if isinstance(event, InternalError)), None)
    return internal_failure(failed) if failed is not None else None


def _shown(breakdown: Breakdown, found: TargetAttempts) -> Breakdown:
    """The same with paths as the report writes them."""

    def placed(error: AttemptError | None) -> AttemptError | None:
        return shown_error(error, found.subject) if error is not None else None

    rows = (
        replace(row, error=placed(row.error), trace_error=placed(row.trace_error))
        for row in breakdown.submodules
    )
    return replace(breakdown, submodules=tuple(rows))
