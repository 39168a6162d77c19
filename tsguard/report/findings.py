"""One rule broken at one place, and what repairs it."""

from __future__ import annotations

from itertools import groupby
from typing import Literal

from tsguard.report.records import dataclass

Family = Literal["tool", "script", "trace", "mode", "api", "pipeline", "export", "migration", "attempt"]
Severity = Literal["error", "warning", "info"]
Applicability = Literal["safe", "unsafe"]
APPLICABILITIES: tuple[Applicability, ...] = ("safe", "unsafe")
SEVERITIES: tuple[Severity, ...] = ("info", "warning", "error")


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text between two positions of a file."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    content: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that repair a finding; ``safe`` ones keep the meaning of the code."""

    applicability: Applicability
    message: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule broken at one place.

    ``when`` is the constructor condition under which it holds (None: always; "unless ..." where
    it holds but for few arguments),
    ``chain`` the calls that lead from the target to the place, outermost first, and
    ``targets`` the targets whose closure holds the place.  In a notebook ``cell`` is the
    number of the cell, among all cells from 1 on, and lines are those of the cell.
    ``confirmed`` is what an attempt showed of it, ``warned`` whether torch warned of the place,
    ``subject`` the name in the code that it is about, "" where it is about none.
    """

    code: str
    name: str
    family: Family
    severity: Severity
    message: str
    help: str | None
    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    when: str | None = None
    chain: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    fix: Fix | None = None
    confirmed: bool | None = None
    id: int = -1
    cell: int | None = None
    warned: bool = False
    subject: str = ""

    @property
    def condition(self) -> str:
        """``when norm is None`` or ``unless config is ...``; empty where it always holds."""
        if self.when is None or self.when.startswith("unless "):
            return self.when or ""
        return f"when {self.when}"

    @property
    def way(self) -> tuple[str, ...]:
        """The chain, each function that goes on calling itself once: ``scan (3 times)``."""
        runs = ((label, len(list(run))) for label, run in groupby(self.chain))
        return tuple(label if count == 1 else f"{label} ({count} times)" for label, count in runs)

    @property
    def place(self) -> str:
        """``net.py:3:5``, in a notebook ``net.ipynb:cell 2:3:5``."""
        return f"{placed(self.path, self.cell)}:{self.line}:{self.column}"


def is_fixable(finding: Finding, unsafe: bool) -> bool:
    """Whether a finding has a fix, a safe one unless ``unsafe`` ones count too."""
    return finding.fix is not None and (unsafe or finding.fix.applicability == "safe")


def placed(path: str, cell: int | None) -> str:
    """A file as places name it, with the cell of a notebook."""
    return path if cell is None else f"{path}:cell {cell}"
