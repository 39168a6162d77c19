"""Numbers and attempts in words, the same wherever they are told."""

from __future__ import annotations

from tsguard.report import Attempt, AttemptError, Speedup

_WHEN = {
    "start": "at the start of its process",
    "import": "at import",
    "construct": "when it is constructed",
    "example_inputs": "on the file's own example_inputs()",
    "inputs": "when its inputs are made",
}


def when(step: str) -> str:
    """At what a target fails that was not called: ``at import``."""
    return _WHEN[step]


def said(error: AttemptError) -> str:
    """``ValueError: no weights at net.py:12``."""
    at = f" at {error.path}:{error.line}" if error.path is not None and error.line is not None else ""
    return f"{error.type}: {first_line(error.message)}{at}"


def ratio(speedup: Speedup) -> str:
    """``1.31x [1.27, 1.36]``."""
    return f"{speedup.median:.2f}x [{speedup.low:.2f}, {speedup.high:.2f}]"


def place(attempt: Attempt) -> str:
    """Where an attempt was made: ``eval on cpu``, with the dtype if one was asked for."""
    dtype = f" in {attempt.dtype}" if attempt.dtype else ""
    return f"{attempt.mode} on {attempt.device}{dtype}"


def first_line(text: str, longest: int = 200) -> str:
    """The first line of a message, cut where it is very long."""
    line = text.strip().partition("\n")[0].strip().rstrip(":")
    line = line if line.endswith("..") else line.removesuffix(".")
    return line if len(line) <= longest else line[: longest - 3] + "..."
