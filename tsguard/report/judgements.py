"""The verdicts on a target, and what keeps one unknown."""

from __future__ import annotations

from typing import Literal

from tsguard.report.findings import placed
from tsguard.report.records import dataclass

ScriptVerdict = Literal["ok", "blocked", "broken", "depends", "unknown"]
TraceVerdict = Literal["safe", "hazardous", "depends", "unknown"]
ModeVerdict = Literal["dependent", "independent", "depends", "unknown"]
ExportVerdict = Literal["exports", "refused", "specialised", "unknown"]
CompileVerdict = Literal["compiles", "breaks", "unknown"]

ASK_TORCH = "use `tsguard check`, which runs torch"
"""What to do about what the source does not tell."""


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
class FixedDimension:
    """A dimension (counted from 0) of an input that an exported program holds at the example's size.

    ``input`` is the parameter, with what leads to the tensor in it: ``batch['image']``.
    """

    input: str
    dimension: int


@dataclass(frozen=True, slots=True)
class ExportJudgement:
    """What ``torch.export.export(module.eval(), inputs)`` makes of a target, not strictly.

    ``verdict`` is for static shapes: "exports", and the program does as eager for whatever has the
    example's sizes; "refused"; "specialised": exports, and holds values of the example besides its
    sizes.  ``dynamic`` is for open dimensions: those that the settings name, else the first of
    each tensor (``Dim.AUTO``); there "specialised" means that what ``fixed`` names is held at the
    example's size, though eager takes others.  ``findings`` and ``unknown`` are those of both.
    ``compile`` is "breaks" where ``torch.compile(fullgraph=True)`` refuses the target, and "compiles" where all was
    followed and nothing makes it.  ``confirmed`` and ``dynamic_confirmed`` are what attempts say of the two verdicts, as for scripting.
    """

    verdict: ExportVerdict = "unknown"
    findings: tuple[int, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    dynamic: ExportVerdict = "unknown"
    fixed: tuple[FixedDimension, ...] = ()
    confirmed: bool | None = None
    dynamic_confirmed: bool | None = None
    compile: CompileVerdict = "unknown"


@dataclass(frozen=True, slots=True)
class ReleaseVerdicts:
    """The verdicts on a target for one torch release."""

    release: str
    script: ScriptVerdict
    trace: TraceVerdict
    mode: ModeVerdict
    export: ExportVerdict = "unknown"


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
