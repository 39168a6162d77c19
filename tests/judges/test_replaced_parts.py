"""Parts that a constructor puts in the place of others, held against torch."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
import torch

from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

FILE = """\
import torch
from torch import nn


class Part(nn.Module):
    def forward(self, x):
        y: float = x  # which torch.jit.script refuses
        return x if not self.training else -x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.Sequential(nn.Sequential(nn.ReLU(), nn.Linear(2, 2)), nn.ReLU())
        {put}

    def replace(self, module):
        if isinstance(module, nn.Sequential):
            module[0] = Part()

    def forward(self, x):
        return self.parts(x)


def replace_(module):
    if isinstance(module, nn.Sequential) and isinstance(module[0], nn.ReLU):
        module[0] = Part()
"""
PUT = {
    "by a method that is applied": "self.apply(self.replace)",
    "by a function that is applied": "self.apply(replace_)",
    "by a function that is applied to a part": "self.parts.apply(replace_)",
    "in a loop over all modules": "for m in self.modules(): replace_(m)",
    "in a loop, by its place": (
        "for m in self.modules():\n            if isinstance(m, nn.Sequential):\n                m[0] = Part()"
    ),
    "in a loop, by its name": (
        "for n, m in self.parts[0].named_children():\n"
        "            if isinstance(m, nn.ReLU):\n                setattr(self.parts[0], n, Part())"
    ),
    "under its path": "self.set_submodule('parts.0.1', Part())",
    "under its path, by keywords": "self.set_submodule(target='parts.1', module=Part())",
}
SET = {
    "the values of weights": (
        "for m in self.modules():\n            if isinstance(m, nn.Linear):\n"
        "                w = m.weight.data\n                w[0] = 1.0\n                nn.init.zeros_(m.bias)"
    ),
}


def net_and_verdicts(tmp_path: Path, put: str) -> tuple[torch.nn.Module, tuple[str, str]]:
    path = tmp_path / "net.py"
    path.write_text(FILE.replace("{put}", put), encoding="utf-8")
    project = Project((tmp_path,))
    found = judge(Program(project), find_target(project.module(path), "Net"))
    return runpy.run_path(str(path))["Net"](), (found.script, found.mode)


@pytest.mark.parametrize("case", PUT)
def test_what_is_put_there_is_judged(tmp_path: Path, case: str) -> None:
    net, verdicts = net_and_verdicts(tmp_path, PUT[case])
    assert verdicts == ("blocked", "dependent")
    assert any(type(module).__name__ == "Part" for module in net.modules())
    with pytest.raises(RuntimeError):
        torch.jit.script(net)


@pytest.mark.parametrize("case", SET)
def test_what_only_sets_values_leaves_the_parts(tmp_path: Path, case: str) -> None:
    net, verdicts = net_and_verdicts(tmp_path, SET[case])
    assert verdicts == ("ok", "independent")
    torch.jit.script(net)
