"""A target that is torch's own container is traced as a module with a forward is, held against torch."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.rules.on_torch import load
from tests.torch_here import RELEASE
from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

SOURCE = """\
import torch
from torch import nn


class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 3, 1)
        self.kept = nn.Parameter(torch.ones(2))
        self.weights = None

    def forward(self, x):
        {body}


def net():
    return nn.Sequential(Part(), nn.Identity())
"""
SAFE = {
    "a list of which one item is returned": "return [x, x * 2][1]",
    "an attribute that a call sets before it reads it": (
        "self.weights = self.layer.weight * 2; return torch.conv2d(x, self.weights)"
    ),
    "a test of whether the input is empty": "return x if x.numel() == 0 else self.layer(x)",
    "a test of what a layer pins": "x = self.layer(x); return x if x.shape[1] == 3 else -x",
}
HAZARDOUS = {
    "a number": "return 2",
    "a dict": "return {'x': x}",
    "a tuple with None": "return x, None",
    "a parameter": "return self.kept",
    "a test of a size": "return x if x.shape[2] == 5 else -x",
}


@pytest.mark.parametrize("case", [*SAFE, *HAZARDOUS])
def test_a_sequence_is_traced_as_its_parts_are(tmp_path: Path, case: str) -> None:
    path = tmp_path / "model.py"
    path.write_text(SOURCE.replace("{body}", (SAFE | HAZARDOUS)[case]), encoding="utf-8")
    project = Project((tmp_path,))
    target = find_target(project.module(path), "net()")
    assert judge(Program(project, RELEASE), target).trace == ("safe" if case in SAFE else "hazardous")
    assert is_traced_right(path) == (case in SAFE)


def is_traced_right(path: Path) -> bool:
    """Whether the trace of what ``net`` of a file makes gives what eager does for an input of another size."""
    net: Any = load(str(path)).net()
    other = torch.ones(2, 3, 6, 6)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            traced = torch.jit.trace(net, (torch.ones(1, 3, 5, 5),), check_trace=False)
    except RuntimeError:
        return False
    return torch.equal(traced(other), net(other))
