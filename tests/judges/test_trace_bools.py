"""A bool of Python where torch takes a number: torch.jit.trace has no operator for it, and is asked of each."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
import torch

from tsguard.analysis.python import Program
from tsguard.judges.judgement import Judgement, judge
from tsguard.project import Project
from tsguard.project.targets import find_target

FILE = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        return {value}
"""
REFUSED = [
    "x * True",
    "x * (x.dim() == 2)",
    "x * x.is_contiguous()",
    "x + x.requires_grad",
    "x * x.is_cuda",
    "x.is_floating_point() * x",
    "torch.mul(x, self.training)",
    "x ** isinstance(x, torch.Tensor)",
]
TAKEN = [
    "x * (x > 0)",
    "x * (x.shape[0] > 2)",
    "x * int(x.dim() == 2)",
    "x.mean(0, keepdim=x.dim() == 2)",
    "torch.dropout(x, 0.5, self.training)",
    "x if x.is_contiguous() else x * 2",
]


def judged(tmp_path: Path, value: str) -> tuple[torch.nn.Module, Judgement]:
    path = tmp_path / "net.py"
    path.write_text(FILE.format(value=value))
    project = Project((tmp_path,))
    judgement = judge(Program(project, "2.13"), find_target(project.module(path), "Net"))
    return runpy.run_path(str(path))["Net"]().eval(), judgement


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("value", REFUSED)
def test_a_calculation_with_one_is_refused(tmp_path: Path, value: str):
    net, judgement = judged(tmp_path, value)
    assert judgement.trace == "hazardous"
    with pytest.raises((RuntimeError, torch.jit.TracingCheckError)):
        torch.jit.trace(net, (torch.randn(4, 6),))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("value", TAKEN)
def test_a_tensor_a_number_and_a_flag_are_taken(tmp_path: Path, value: str):
    net, judgement = judged(tmp_path, value)
    assert judgement.trace == "safe"
    torch.jit.trace(net, (torch.randn(4, 6),))
