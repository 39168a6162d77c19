"""What is said for the way to torch.export: uses of torch.jit in a file, and what a target loses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsguard.analysis.migration.losses import losses_of
from tsguard.analysis.migration.uses import uses_in
from tsguard.judges.findings import finding

if TYPE_CHECKING:
    from tsguard.analysis.python import Program
    from tsguard.judges.judgement import Judgement
    from tsguard.project.modules import Module
    from tsguard.report import Finding

# Layers, branches and calls that differ between train() and eval(); other rules of the family tell what is the same.
_BETWEEN_MODES = frozenset({"TSG301", "TSG302", "TSG303"})


def judge_uses(program: Program, module: Module) -> tuple[Finding, ...]:
    """The findings of family ``migration`` that belong to no target."""
    return tuple(map(finding, uses_in(program, module)))


def judge_losses(program: Program, judgement: Judgement) -> tuple[Finding, ...]:
    """The findings of family ``migration`` on a target; what is random in both modes has no mode to lose."""
    by_mode = judgement.mode in ("dependent", "depends") and any(
        f.code in _BETWEEN_MODES for f in judgement.findings
    )
    return tuple(map(finding, losses_of(program, judgement.target, by_mode=by_mode)))
