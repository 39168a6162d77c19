"""One judgement of a copy, by torch in a worker process."""

from __future__ import annotations

import os
from pathlib import Path

from tsguard.repairing.results import Judged
from tsguard.runtime.endings import crash_error
from tsguard.runtime.events import Constructed, Event, InputsFound, RepairJudged, Seen, Stopped
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
    said: dict[type[Event], Event] = {type(event): event for event in outcome.events}
    made, inputs = said.get(Constructed), said.get(InputsFound)
    constructor = made.expression if isinstance(made, Constructed) else None
    called_with = inputs.expressions if isinstance(inputs, InputsFound) else None
    seen, word = said.get(Seen), said.get(RepairJudged) or said.get(Stopped)
    if isinstance(word, RepairJudged):
        return Judged(
            word.status,
            word.error,
            word.places,
            word.changed,
            word.inputs,
            seen.functions if isinstance(seen, Seen) else (),
            constructor,
            called_with,
            parts=word.parts,
        )
    if isinstance(word, Stopped):
        return Judged("stopped", word.error, constructor=constructor, needed=word.needed)
    return Judged("crashed", crash_error(outcome, subject), constructor=constructor, called_with=called_with)
