"""Arguments that are given by their names say as much as those that are not, held against torch."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
import torch

from tests.judges.test_trace_consequences import is_traced_right, verdict
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


def scaled(module, given, result):
    return result * float(result.shape[0])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        {made}

    def forward(self, x):
        for part in {held}:
            x = part(x)
        return x
"""
MADE = [
    ("self.held = nn.ModuleList(modules=[Part()])", "self.held"),
    ("self.held = nn.ModuleList().append(module=Part())", "self.held"),
    ("self.held = nn.ModuleList().extend(modules=[Part()])", "self.held"),
    ("self.held = nn.ModuleList(); self.held.insert(module=Part(), index=0)", "self.held"),
    ("self.held = nn.ModuleDict(modules={'a': Part()})", "self.held.values()"),
    ("self.held = nn.ModuleDict(); self.held.update(modules={'a': Part()})", "self.held.values()"),
    ("self.held = nn.Sequential().append(module=Part())", "[self.held]"),
    ("self.held = nn.Sequential().extend(sequential=nn.Sequential(Part()))", "[self.held]"),
    ("self.held = nn.Sequential(nn.Identity()); self.held.insert(module=Part(), index=1)", "[self.held]"),
]
TRACED = {
    "torch.max(input=x, dim=-1).values": "safe",
    "torch.cat(tensors=[x, x], dim=0)": "safe",
    "torch.where(condition=x > 0, input=x, other=-x)": "safe",
    "torch.cat(tensors=torch.unbind(input=x, dim=1))": "hazardous",
    "torch.split(tensor=x, split_size_or_sections=2, dim=1)[0]": "hazardous",
}


@pytest.mark.parametrize(("made", "held"), MADE)
def test_what_a_container_is_given_is_in_it(tmp_path: Path, made: str, held: str) -> None:
    path = tmp_path / "net.py"
    path.write_text(FILE.format(made=made, held=held), encoding="utf-8")
    project = Project((tmp_path,))
    found = judge(Program(project), find_target(project.module(path), "Net"))
    assert (found.script, found.mode) == ("blocked", "dependent")

    net = runpy.run_path(str(path))["Net"]()
    x = torch.ones(2)
    assert not torch.equal(net.train()(x), net.eval()(x))
    with pytest.raises(RuntimeError):
        torch.jit.script(net)


def test_a_hook_runs(tmp_path: Path) -> None:
    made = "self.held = nn.Linear(3, 3); self.held.register_forward_hook(hook=scaled)"
    path = tmp_path / "net.py"
    path.write_text(FILE.format(made=made, held="[self.held]"), encoding="utf-8")
    project = Project((tmp_path,))
    assert judge(Program(project), find_target(project.module(path), "Net")).trace == "hazardous"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("returned", TRACED)
def test_a_function_takes_its_first_argument_by_name(tmp_path: Path, returned: str) -> None:
    source = f"def f(x):\n    return {returned}"
    assert verdict(tmp_path, source) == TRACED[returned]
    is_right = is_traced_right(tmp_path, source, torch.ones(2, 4), torch.full((2, 6), 2.0))
    assert is_right == (TRACED[returned] == "safe")
