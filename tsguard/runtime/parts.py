"""The breakdown of a target by submodule, asked of a worker."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tsguard.report import AttemptError, Breakdown, Speedup, Submodule
from tsguard.runtime.attempts import Bounds, Run, TargetAttempts
from tsguard.runtime.decoding import decoded_error
from tsguard.runtime.endings import crash_message, internal_failure, shown_path
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
    events = [event for event in outcome.events if event["event"] == "breakdown"]
    known = _decoded(events[-1]["breakdown"], found) if events else Breakdown()
    told = replace(known, note=known.note or _cut_short(outcome))
    return told if told.submodules or told.note else None


def _cut_short(outcome: Outcome) -> str | None:
    if outcome.ending != "finished":
        return crash_message(outcome)
    failed = next((event for event in outcome.events if event["event"] == "internal error"), None)
    return internal_failure(failed) if failed is not None else None


def _decoded(value: dict[str, Any], found: TargetAttempts) -> Breakdown:
    return Breakdown(
        submodules=tuple(_submodule(row, found) for row in value["submodules"]),
        chosen=tuple(value["chosen"]),
        speedup=_speedup(value["speedup"]),
        equal=value["equal"],
        note=value["note"],
    )


def _submodule(row: dict[str, Any], found: TargetAttempts) -> Submodule:
    errors = {name: _error(row[name], found) for name in ("error", "trace_error")}
    return Submodule(**{**row, "speedup": _speedup(row["speedup"]), **errors})


def _error(value: dict[str, Any] | None, found: TargetAttempts) -> AttemptError | None:
    return decoded_error(value, lambda path: shown_path(path, found.subject)) if value is not None else None


def _speedup(value: dict[str, Any] | None) -> Speedup | None:
    return Speedup(**value) if value is not None else None
