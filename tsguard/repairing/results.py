"""What the stages of a repair pass on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tsguard.repairing.fixing import Change
from tsguard.report import AttemptError, Finding
from tsguard.runtime.events import SeenFunction

Status = Literal["ok", "refused", "raises", "diverges", "changed", "stopped", "crashed"]


@dataclass(frozen=True, slots=True)
class Judged:
    """What torch and eager said of a copy.

    ``ok``: it scripts, and the compiled code agrees with eager on ``inputs`` calls. ``changed`` tells what is
    not as it was for callers.  ``stopped``: it could not be made or called, as ``error`` says; ``needed`` are the
    arguments to give.  ``parts`` are the submodules that script by themselves, where the whole does not.
    """

    status: Status
    error: AttemptError | None = None
    places: tuple[tuple[str, int], ...] = ()
    changed: str | None = None
    inputs: int = 0
    seen: tuple[SeenFunction, ...] = ()
    constructor: str | None = None
    called_with: tuple[str, ...] | None = None
    needed: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One edit to make by hand: what stands in the way at a line of a file, and how such a thing is written instead.

    ``others`` are further lines with the same, ``text`` is the line as it is, ``sketch`` the lines of an example
    that go ("- ") and come ("+ ").
    """

    finding: Finding
    others: tuple[int, ...] = ()
    text: str = ""
    sketch: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Repaired:
    """A target after its repair.

    ``before`` and ``after`` are torch's words on it, ``changes`` what was changed, by the files' shown paths, ``made``
    what each edit does, ``left`` the edits by hand that are left after all that helped, what torch comes to first
    before the rest.
    ``parts`` are the submodules that script by themselves, the largest first.
    """

    target: str
    before: Judged
    after: Judged
    changes: Mapping[str, Change] = field(default_factory=dict)
    made: tuple[str, ...] = ()
    left: tuple[Step, ...] = ()
    parts: tuple[str, ...] = ()
