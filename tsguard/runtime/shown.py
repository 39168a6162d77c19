"""Numbers and attempts in words, the same wherever they are told."""

from __future__ import annotations

from tsguard.answer.speed import ratio
from tsguard.answer.words import first_line, is_internal, place
from tsguard.report import AttemptError

__all__ = ["first_line", "place", "ratio", "said", "when"]

_WHEN = {
    "start": "at the start of its process",
    "import": "at import",
    "construct": "when it is constructed",
    "example_inputs": "on the file's own example_inputs()",
    "inputs": "when it is called",
}


def when(step: str) -> str:
    """At what a target fails that was not called: ``at import``."""
    return _WHEN[step]


def said(error: AttemptError) -> str:
    """``ValueError: no weights at net.py:12``."""
    at = f" at {error.path}:{error.line}" if error.path is not None and error.line is not None else ""
    if is_internal(error):
        return f"an internal error of torch{at}"
    message = first_line(error.message)
    return f"{error.type}{': ' if message else ''}{message}{at}"
