"""Augmented assignments in compiled code: what torch computes in place, and what it drops, as it is told."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
import torch

from tests.rules.on_torch import load
from tsguard.analysis.python import Program
from tsguard.judges.judgement import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

FILE = """\
import torch
from torch import Tensor, nn


class Net(nn.Module):
    def forward(self, x: Tensor, n: int, w: float) -> Tensor:
        y = x + 0
        {statement}
        return y * n * w
"""


def _told(path: Path) -> list[str]:
    project = Project((path.parent,))
    judgement = judge(Program(project), find_target(project.module(path), "Net"))
    return [finding.code for finding in judgement.findings if finding.family == "script"]


def _is_same(path: Path) -> bool:
    module = load(path).Net()
    scripted = torch.jit.script(module)
    given = torch.tensor([5, 9, 12, -8]), -7, -7.5
    eager, compiled = (f(*copy.deepcopy(given)) for f in (module, scripted))
    return eager.dtype == compiled.dtype and bool(torch.equal(eager, compiled))


@pytest.mark.parametrize(
    "target", ["y[0]", "y[1:]", "y[n + 6]", "y[..., 1]", "y[None]", "y[y > 5]", "y[torch.tensor([0])]"]
)
@pytest.mark.parametrize("operator", ["|=", "&=", "^=", "**=", "<<=", ">>=", "+=", "*="])
def test_what_is_put_nowhere_is_told(tmp_path: Path, operator: str, target: str) -> None:
    path = tmp_path / "net.py"
    path.write_text(FILE.format(statement=f"{target} {operator} 2"), encoding="utf-8")
    assert _told(path) == ([] if _is_same(path) else ["TSG1010"])


@pytest.mark.parametrize("statement", ["n %= 3", "w %= 2", "y %= 3", "n %= y.size(0)"])
def test_the_remainder_of_c_is_told(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "net.py"
    path.write_text(FILE.format(statement=statement), encoding="utf-8")
    assert _told(path) == ["TSG1010"]
    assert not _is_same(path)


@pytest.mark.parametrize(
    ("value", "computed"), [("n + 1", "y[1:] | n + 1"), ("y[:-1] > 0", "y[1:] | (y[:-1] > 0)")]
)
def test_the_help_is_what_python_computes(tmp_path: Path, value: str, computed: str) -> None:
    path = tmp_path / "net.py"
    path.write_text(FILE.format(statement=f"y[1:] |= {value}"), encoding="utf-8")
    project = Project((path.parent,))
    findings = judge(Program(project), find_target(project.module(path), "Net")).findings
    assert [f.help for f in findings if f.code == "TSG1010"] == [f"write y[1:] = {computed}"]


def test_a_function_of_ones_own_is_no_mean_of_floats(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    source = """\
import torch
from torch import Tensor, nn


class Net(nn.Module):
    def norm(self, x):
        return x.argmax()

    def forward(self, x: Tensor):
        total = 0
        for _ in range(2):
            total += self.norm(x).item()
        return x * total
"""
    path.write_text(source, encoding="utf-8")
    assert _told(path) == []
    path.write_text(source.replace("self.norm(x)", "x.norm()"), encoding="utf-8")
    assert _told(path) == ["TSG188"]
