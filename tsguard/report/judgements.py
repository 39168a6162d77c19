"""The verdicts on a target, and what keeps one unknown."""

from __future__ import annotations

from typing import Literal

from tsguard.records import dataclass
from tsguard.report.findings import placed

ScriptVerdict = Literal["ok", "blocked", "broken", "depends", "unknown"]
TraceVerdict = Literal["safe", "hazardous", "unknown"]
ModeVerdict = Literal["dependent", "independent", "unknown"]


@dataclass(frozen=True, slots=True)
class Unknown:
    """Why a target could not be judged: a place (see ``Finding``), a reason, and what to do about it."""

    path: str
    line: int
    why: str
    help: str | None = None
    cell: int | None = None

    @property
    def place(self) -> str:
        """``net.py:3``, in a notebook ``net.ipynb:cell 2:3``."""
        return f"{placed(self.path, self.cell)}:{self.line}"


@dataclass(frozen=True, slots=True)
class ScriptJudgement:
    """``confirmed`` is what attempts say of the verdict: False where they refute it, None for nothing."""

    verdict: ScriptVerdict = "unknown"
    findings: tuple[int, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    confirmed: bool | None = None


@dataclass(frozen=True, slots=True)
class TraceJudgement:
    """``confirmed`` as for scripting."""

    verdict: TraceVerdict = "unknown"
    findings: tuple[int, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    confirmed: bool | None = None


@dataclass(frozen=True, slots=True)
class Layer:
    """A submodule (or function) whose behaviour depends on the mode."""

    attribute: str
    type: str


@dataclass(frozen=True, slots=True)
class ModeJudgement:
    verdict: ModeVerdict = "unknown"
    findings: tuple[int, ...] = ()
    layers: tuple[Layer, ...] = ()
    unknown: tuple[Unknown, ...] = ()


@dataclass(frozen=True, slots=True)
class ReleaseVerdicts:
    """The verdicts on a target for one torch release."""

    release: str
    script: ScriptVerdict
    trace: TraceVerdict
    mode: ModeVerdict


@dataclass(frozen=True, slots=True)
class Cause:
    """One thing that was not read (see ``Unknown``), and the targets with a verdict that is unknown for it."""

    path: str
    line: int
    why: str
    help: str | None = None
    cell: int | None = None
    targets: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """As that of a finding, without a column."""
        return f"{placed(self.path, self.cell)}:{self.line}"
