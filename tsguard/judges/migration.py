"""What is said for the way to torch.export: uses of torch.jit in a file, and what a target loses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsguard.analysis.migration.losses import losses_of
from tsguard.analysis.migration.uses import uses_in
from tsguard.judges.findings import finding

if TYPE_CHECKING:
    from tsguard.analysis.python import Program
    from tsguard.project import Target
    from tsguard.project.modules import Module
    from tsguard.report import Finding


def judge_uses(program: Program, module: Module) -> tuple[Finding, ...]:
    """The findings of family ``migration`` that belong to no target."""
    return tuple(map(finding, uses_in(program, module)))


def judge_losses(program: Program, target: Target, *, by_mode: bool) -> tuple[Finding, ...]:
    """The findings of family ``migration`` on a target; ``by_mode``: its result depends on the mode."""
    return tuple(map(finding, losses_of(program, target, by_mode=by_mode)))
