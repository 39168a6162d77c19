"""What an answer rests on, and what it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tsguard.report import Attempt, AttemptError, Finding, ScriptVerdict

COMPILED_ALREADY = "it is compiled already: this changes nothing"
"""The note of an attempt that gave the very module back."""

NOT_RUN = "compiles; it was not run"
"""How the note of an attempt begins that was compiled, and could not be called."""


def was_run(attempt: Attempt) -> bool:
    """Whether what an attempt made was called."""
    return not (attempt.note or "").startswith(NOT_RUN)


Kind = Literal["use", "works", "leave", "repair", "inputs", "needs", "nothing"]


@dataclass(frozen=True, slots=True)
class Stopped:
    """Why a target was never called.

    ``when`` is at what it failed ("at import"); ``lacking`` how to give what it needs from the user,
    None where it is itself at fault; ``of_inputs`` that it failed in making the inputs.
    """

    when: str
    error: AttemptError
    lacking: str | None = None
    of_inputs: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """All that is known of one target.

    ``findings`` are the linter's on it, also those that a filter, a comment or a baseline keeps out of
    the report.  ``given`` tells that the user gave the inputs, ``guessed`` that nobody did, ``tensors``
    that there is a tensor in them: a trace without one is a constant.
    """

    script: ScriptVerdict = "unknown"
    findings: tuple[Finding, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    stopped: Stopped | None = None
    given: bool = False
    guessed: bool = False
    tensors: bool = True


@dataclass(frozen=True, slots=True)
class Answer:
    """What to do.

    ``use`` are the attempts that are recommended, one for each device and mode; ``minded`` the
    findings that are named with them because they say where these go wrong.
    """

    kind: Kind
    sentences: tuple[str, ...]
    use: tuple[Attempt, ...] = ()
    minded: tuple[Finding, ...] = ()

    @property
    def text(self) -> str:
        """The answer in words, the most important first."""
        # What was cut, and what asks, ends as it is.
        return " ".join(self.sentences).replace(" ....", " ...").replace("?.", "?")
