"""Branches by mode whose sides come to the same: nothing depends on the mode there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.noisy = False

    def forward(self, x, z):
        if not self.training:
            {evaluated}
        {trained}
"""
SAME = {
    "without gradients": ("with torch.no_grad():\n                return x * z", "return x * z"),
    "without gradients, and detached": ("return (x * z).detach()", "return x * z"),
    "detached before": ("x = x.detach()", "return x * z"),
    "another name": ("return x", "y = x\n        return y"),
    "two names": ("return x, z", "a, b = x, z\n        return a, b"),
    "a name of a name": ("return x", "y = x\n        w = y\n        return w"),
    "another layout of what is there": ("x = x.contiguous()", "return x * z"),
    "a branch that is not taken": (
        "return x",
        "if self.noisy:\n            x = x * torch.rand(3)\n        return x",
    ),
    "a branch not taken that changes another name": (
        "return x",
        "y = x\n        if self.noisy:\n            y = y + 1\n        return y",
    ),
}
OTHER = {
    "something else without gradients": (
        "with torch.no_grad():\n                return x + z",
        "return x * z",
    ),
    "another tensor, detached": ("x = z.detach()", "return x * z"),
    "a branch that is taken": ("return x", "if not self.noisy:\n            x = x * 2\n        return x"),
    "a name that was kept before a change": (
        "x = x + 1\n            return x",
        "y = x\n        x = x + 1\n        return y",
    ),
    "another layout of something else": ("x = z.contiguous()", "return x * z"),
    "names that change places": ("return x, z", "x, z = z, x\n        return x, z"),
    "a name of something else": ("return x", "y = z\n        return y"),
    "a branch that the input decides": (
        "return x",
        "if z is None:\n            return x * 2\n        return x",
    ),
}
CASES = {**SAME, **OTHER}


@pytest.mark.parametrize("name", CASES)
def test_sides_that_come_to_the_same_are_told_from_others(name: str, tmp_path: Path) -> None:
    evaluated, trained = CASES[name]
    (tmp_path / "net.py").write_text(NET.format(evaluated=evaluated, trained=trained), encoding="utf-8")
    project = Project(())
    target = find_target(project.module(tmp_path / "net.py"), "Net")
    assert judge(Program(project), target).mode == ("independent" if name in SAME else "dependent")
