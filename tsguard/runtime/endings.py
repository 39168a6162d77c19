"""How a worker ended, and where, in the user's terms."""

from __future__ import annotations

import os
import signal
from dataclasses import replace

from tsguard.report import AttemptError
from tsguard.runtime.events import InternalError
from tsguard.runtime.subject import Subject
from tsguard.runtime.task import Outcome
from tsguard.runtime.usercode import UserCode


def shown_path(path: str, subject: Subject) -> str:
    """A worker's absolute path as reports write it: relative to the working folder."""
    if os.path.realpath(path) == os.path.realpath(subject.file):
        return subject.shown
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


def shown_error(error: AttemptError, subject: Subject) -> AttemptError:
    """A worker's error with its path as reports write it."""
    return replace(error, path=shown_path(error.path, subject)) if error.path else error


def internal_failure(event: InternalError) -> str:
    """What a worker says that failed by itself, in words."""
    return f"the worker itself failed: {event.traceback.strip().rpartition(chr(10))[2]}"


def crash_error(outcome: Outcome, subject: Subject) -> AttemptError:
    """How a worker ended, as an error at the user's line where the stack tells it."""
    kind = {"timeout": "Timeout", "memory": "MemoryLimit", "processes": "ProcessLimit"}.get(
        outcome.ending, "Crash"
    )
    place = UserCode.around(subject.file, subject.module).place_in_fault(outcome.fault)
    path, line = (shown_path(place[0], subject), place[1]) if place else (None, None)
    return AttemptError(kind, crash_message(outcome), path, line)


_DURING = {"start": "while starting", "construct": "during construction", "inputs": "in a call"}


def crash_message(outcome: Outcome) -> str:
    """How a worker ended, in words."""
    during = _DURING.get(outcome.phase, f"during {outcome.phase}")
    if outcome.ending == "timeout":
        return f"did not end within the time limit, {during}"
    if outcome.ending == "memory":
        return f"used more memory than it may ({outcome.peak_mb} MiB), {during}"
    if outcome.ending == "processes":
        return f"started hundreds of processes, {during}"
    if outcome.ending == "killed":
        try:
            name = signal.Signals(outcome.number or 0).name
        except ValueError:
            name = f"signal {outcome.number}"
        return f"the process was killed by {name}, {during}"
    if outcome.ending == "exited":
        return f"the process exited with status {outcome.number}, {during}"
    return f"the process was lost, {during}"
