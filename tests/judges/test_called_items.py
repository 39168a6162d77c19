"""What comes out of an argument of unknown type and is called: a module or a function, which torch would compile."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
import torch

from tsguard.analysis.python import Program
from tsguard.judges.script import judge_script
from tsguard.project import Project
from tsguard.project.targets import find_target

FILE = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, held):
        super().__init__()
        self.held = held

    def forward(self, x):
{body}
        return x
"""
CALLED = {
    "for f in self.held[1:]:\n    x = f(x)": [torch.nn.ReLU()],
    "f = self.held[0] if self.training else self.held[1]\nx = f(x)": [torch.nn.ReLU()],
    "x = self.held.get('a')(x)": {"a": torch.nn.ReLU()},
    "for f in self.held:\n    x = f(x)": [torch.nn.ReLU()],
    "for f, g in self.held:\n    x = f(x) + g(x)": [(torch.nn.ReLU(), torch.nn.ReLU())],
    "for i, f in enumerate(self.held):\n    x = f(x) * i": [torch.nn.ReLU()],
    "for f, g in zip(self.held, self.held):\n    x = f(g(x))": [torch.nn.ReLU()],
    "for name, f in self.held.items():\n    x = f(x)": {"a": torch.nn.ReLU()},
    "for f in self.held.values():\n    x = f(x)": {"a": torch.nn.ReLU()},
    "f = self.held\nx = f(x)": open,
    "x = torch.stack([f(x) for f in self.held])": [torch.nn.ReLU()],
}


class Context:
    def __enter__(self):
        pass

    def __exit__(self, *raised):
        pass


USED = {
    "x = x * self.held[0].weight": [torch.nn.Linear(3, 3)],
    "with self.held:\n    x = x * 2": Context(),
    "with self.held[0]:\n    x = x * 2": [Context()],
    "x = self.held.encode(x)": object(),
    "x = self.held.encode()": "a",
    "x = x.view(*self.held)": [3],
    "x = torch.stack([*self.held])": [torch.ones(3)],
}
UNTOLD = {**CALLED, **USED}
DATA = {
    "for k in self.held:\n    x = x * k": [1, 2],
    "a, b = self.held\nx = x * a + b": (1, 2),
    "for i, k in enumerate(self.held):\n    x = x * k + i": [1.0],
    "for j, k in zip(self.held, self.held):\n    x = x * k + j": [1.0],
    "for k, v in self.held.items():\n    x = x * v": {"a": 1},
    "for k in self.held:\n    x = x.view(k.shape)": [torch.ones(3)],
    "if self.held.startswith('a'):\n    x = x * 2": "abc",
}


def judged(tmp_path: Path, body: str) -> tuple[Path, str, str]:
    path = tmp_path / "net.py"
    path.write_text(FILE.format(body="".join(f"        {line}\n" for line in body.splitlines()).rstrip()))
    project = Project((tmp_path,))
    outcome = judge_script(Program(project, "2.13"), find_target(project.module(path), "Net"))
    return path, outcome.verdict, " ".join(gap.why for gap in outcome.gaps)


@pytest.mark.parametrize("body", UNTOLD)
def test_it_is_not_known_whether_torch_compiles_what_is_called_or_used(tmp_path: Path, body: str):
    path, verdict, why = judged(tmp_path, body)
    assert verdict == "unknown"
    assert "held is an argument of the constructor of unknown type" in why
    with pytest.raises(RuntimeError):
        torch.jit.script(runpy.run_path(str(path))["Net"](UNTOLD[body]))


@pytest.mark.parametrize("body", DATA)
def test_numbers_are_taken(tmp_path: Path, body: str):
    path, verdict, _ = judged(tmp_path, body)
    assert verdict == "ok"
    torch.jit.script(runpy.run_path(str(path))["Net"](DATA[body]))
