"""One judgement of a copy, by torch in a worker process."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tsguard.repairing.results import Judged, Seen
from tsguard.report import AttemptError
from tsguard.runtime.endings import crash_error
from tsguard.runtime.launcher import Launcher
from tsguard.runtime.subject import Subject
from tsguard.runtime.task import Limits, Task

_ENTRY = "tsguard.runtime.worker.repairing:judge"


def judged(launcher: Launcher, subject: Subject, kept: Path, limits: Limits) -> Judged:
    """Have a target run by eager and scripted by torch.

    Args:
        kept: the file with what eager did before the first change; it is made by the first judgement.
    """
    argument = {"subject": subject.to_json(), "kept": str(kept)}
    outcome = launcher.run(Task(_ENTRY, argument, limits, cwd=os.getcwd()))
    events: dict[str, dict[str, Any]] = {event["event"]: event for event in outcome.events}
    made, inputs = events.get("constructed"), events.get("inputs")
    seen = tuple(
        Seen(f["file"], f["line"], f["name"], {name: tuple(types) for name, types in f["types"].items()})
        for f in events.get("seen", {}).get("functions", ())
    )
    constructor = made["expression"] if made is not None else None
    expressions = inputs["expressions"] if inputs is not None else None
    called_with = tuple(expressions) if expressions is not None else None
    if "judged" in events:
        word = events["judged"]
        return Judged(
            word["status"],
            _error(word["error"]),
            tuple((path, line) for path, line in word["places"]),
            word.get("changed"),
            word["inputs"],
            seen,
            constructor,
            called_with,
            parts=tuple(word.get("parts", ())),
        )
    if "stopped" in events:
        word = events["stopped"]
        return Judged("stopped", _error(word["error"]), constructor=constructor, needed=tuple(word["needed"]))
    return Judged("crashed", crash_error(outcome, subject), constructor=constructor, called_with=called_with)


def _error(value: dict[str, Any] | None) -> AttemptError | None:
    return None if value is None else AttemptError(**value)
