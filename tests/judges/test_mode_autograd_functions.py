"""What ``apply`` of a ``torch.autograd.Function`` runs is part of a call, in train() and in eval()."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.rules.on_torch import load
from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

NET = """\
import torch
import torch.nn.functional as F
from torch import nn


class Op(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, training=False):
        ctx.save_for_backward(x)
        {body}

    @staticmethod
    def backward(ctx, given):
        return given * torch.rand_like(given), None


class Net(nn.Module):
    def forward(self, x):
        return {called}
"""
CASES = {
    "random numbers": ("return x * torch.rand_like(x)", "Op.apply(x)", "dependent"),
    "the mode by an argument": ("return x * 2 if training else x", "Op.apply(x, self.training)", "dependent"),
    "a dropout that is off": ("return F.dropout(x, training=training)", "Op.apply(x)", "independent"),
    "an operation": ("return x * 2", "Op.apply(x)", "independent"),
}


@pytest.mark.parametrize(("body", "called", "expected"), CASES.values(), ids=CASES)
def test_the_judge_says_as_torch_does(tmp_path: Path, body: str, called: str, expected: str) -> None:
    path = tmp_path / "model.py"
    path.write_text(NET.format(body=body, called=called), encoding="utf-8")
    project = Project((tmp_path,))
    assert judge(Program(project), find_target(project.module(path), "Net")).mode == expected

    net: Any = load(str(path)).Net()
    x = torch.ones(2, 3)
    evaluated = [net.eval()(x) for _ in range(2)]
    alike = torch.equal(*evaluated) and torch.equal(evaluated[0], net.train()(x))
    assert alike == (expected == "independent")
