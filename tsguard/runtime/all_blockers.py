"""All that torch.jit.script has to say about a target, not only its first error.

torch stops at the first thing it refuses. So the statement that it points at is taken
out of the source, in a process of its own, and torch is asked again.
"""

from __future__ import annotations

import time
from pathlib import Path

from tsguard.report import AttemptError
from tsguard.runtime.attempts import Blocker, Bounds, Run, TargetAttempts
from tsguard.runtime.budgets import ALL_BLOCKERS_SECONDS, MOST_BLOCKERS
from tsguard.runtime.endings import shown_error
from tsguard.runtime.events import Refused
from tsguard.runtime.holes import HoledSource
from tsguard.runtime.subject import Subject
from tsguard.runtime.task import Task


def all_blockers(run: Run, found: TargetAttempts, bounds: Bounds) -> list[Blocker]:
    """Everything that keeps a target from being scripted, in the order that torch meets it."""
    if not _is_refused(found):
        return []
    subject = found.settled
    sources: dict[str, HoledSource] = {}
    blockers: list[Blocker] = []
    deadline = time.monotonic() + ALL_BLOCKERS_SECONDS
    while len(blockers) < MOST_BLOCKERS and time.monotonic() < deadline:
        refusal = _ask(run, subject, sources, bounds)
        if refusal is None or refusal.path is None or refusal.line is None:
            break
        source = sources.setdefault(refusal.path, _read(refusal.path, len(sources)))
        taken = source.remove_statement(refusal.line)
        if taken is None:
            break
        blockers.append(Blocker(shown_error(refusal, subject), source.is_follow_up(taken)))
    return blockers


def _is_refused(found: TargetAttempts) -> bool:
    """Whether the compiler refused the target; what compiles and then raises has one error only."""
    scripts = [a for a in found.attempts.values() if a.backend == "script"]
    return any(a.status == "failed" and a.error is not None and not a.compile_seconds for a in scripts)


def _ask(run: Run, subject: Subject, sources: dict[str, HoledSource], bounds: Bounds) -> AttemptError | None:
    """torch's refusal of the source as it is now, None when it accepts it or says nothing."""
    holes = {name: annotation for source in sources.values() for name, annotation in source.holes.items()}
    texts = {path: source.text for path, source in sources.items()}
    argument = {"subject": subject.to_json(), "sources": texts, "holes": holes}
    task = Task("tsguard.runtime.worker.holed_sources:script_with_holes", argument, bounds.limits)
    events = run(task, None).events
    return next((event.error for event in events if isinstance(event, Refused)), None)


def _read(path: str, number: int) -> HoledSource:
    return HoledSource(Path(path).read_text(encoding="utf-8", errors="replace"), number)
