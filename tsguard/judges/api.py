"""The API judge: misuse of torch.jit at the places of a file where it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsguard.analysis.api import events_in
from tsguard.judges.findings import finding
from tsguard.rules import holds

if TYPE_CHECKING:
    from tsguard.analysis.python import Program
    from tsguard.project.modules import Module
    from tsguard.report import Finding


def judge_api(program: Program, module: Module) -> tuple[Finding, ...]:
    """The findings of family ``api`` in one file; they belong to no target."""
    release = program.tables.release
    events = events_in(program, module)
    return tuple(finding(event) for event in events if holds(event.rule, release))
