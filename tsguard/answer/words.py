"""Places, errors and findings in a few words."""

from __future__ import annotations

from collections.abc import Sequence

from tsguard.report import Attempt, AttemptError, Finding

_INTERNAL = "INTERNAL ASSERT FAILED"
_LONGEST = 160


def first_line(text: str, longest: int = 200) -> str:
    """The first line of a message without its full stop, cut at a word where it is very long."""
    line = text.strip().partition("\n")[0].strip().rstrip(":")
    line = line if line.endswith("..") else line.removesuffix(".")
    if len(line) <= longest:
        return line
    head = line[: longest - 3]
    return f"{head.rpartition(' ')[0] or head} ..."


def place(attempt: Attempt) -> str:
    """Where an attempt was made: ``eval on cpu``, with the dtype if one was asked for."""
    dtype = f" in {attempt.dtype}" if attempt.dtype else ""
    return f"{attempt.mode} on {attempt.device}{dtype}"


def is_internal(error: AttemptError) -> bool:
    """Whether torch stumbled over itself."""
    return _INTERNAL in error.message


def said(error: AttemptError | None) -> str:
    """What an error says, with its place; of torch's own failures, that they are."""
    if error is None:
        return "the reason is not known"
    at = f"{error.path}:{error.line}: " if error.path and error.line is not None else ""
    if is_internal(error):
        return f"{at}torch fails with an internal error, a bug of torch and not of this code"
    return f"{at}{_told(error)}"


def _told(error: AttemptError) -> str:
    """What an error says; with its type where that is a word or nothing, as of a KeyError or an exit."""
    message = first_line(error.message, _LONGEST)
    return message if " " in message else ": ".join(filter(None, (error.type, message)))


def quoted(finding: Finding) -> str:
    """A finding as it is named in passing."""
    when = f" (when {finding.when})" if finding.when else ""
    message = first_line(finding.message, _LONGEST)
    return f"{finding.place.rpartition(':')[0]}: {message}{when} ({finding.code})"


def named(findings: Sequence[Finding]) -> str:
    """The first of some findings and how many there are besides."""
    more = f", and {len(findings) - 1} more" if len(findings) > 1 else ""
    return f"{quoted(findings[0])}{more}"
