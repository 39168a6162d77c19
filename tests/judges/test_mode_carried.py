"""What an attribute carries from one call to the next: the second call of the same input gives another result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from tsguard.analysis.python import Program
from tsguard.judges.mode import judge_mode
from tsguard.project import Project
from tsguard.project.targets import find_target

SOURCE = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 4)
        self.layer = nn.Linear(4, 4)
        self.hidden = torch.zeros(2, 4)
        self.parts = [torch.ones(4), torch.ones(4)]
        self.last, self.shape, self.kept = None, None, None
        self.register_buffer("found", None)

    def step(self, x):
        self.hidden = self.cell(x, self.hidden)
        return self.hidden

    def forward(self, x):
        {body}
"""
CARRIED = {
    "of a cell": "self.hidden = self.cell(x, self.hidden)\n        return self.hidden",
    "by a name": "before = self.hidden\n        self.hidden = before + x\n        return before",
    "in a method": "return self.step(x)",
    "what starts as None": "d = x if self.last is None else x - self.last\n        self.last = x\n        return d",
    "a buffer that starts as None": "d = x\n        if self.found is not None:\n            d = x - self.found\n        self.found = x\n        return d",
    "one of several": "old = self.hidden\n        self.hidden, y = x.relu(), x * 2\n        return y + old",
}
NOT_CARRIED = {
    "kept for others": "self.kept = self.layer(x)\n        return self.kept * 2",
    "set before it is read": "self.hidden = torch.zeros_like(x)\n        self.hidden = self.cell(x, self.hidden)\n        return self.hidden",
    "made once": "if self.last is None:\n            self.last = torch.ones(4)\n        return x * self.last",
    "the shape": "if self.shape is not None and self.shape != x.shape:\n            x = x * 1\n        self.shape = x.shape\n        return x",
    "only asked for": "first = self.last is None\n        self.last = x\n        return x",
    "each of a list is moved": "self.parts = [part.to(x.dtype) for part in self.parts]\n        return x + self.parts[0]",
    "returned while it fits": "if self.last is not None and self.last.shape == x.shape:\n            return self.last + x\n        self.last = torch.ones(x.shape)\n        return self.last + x",
    "moved": "self.hidden = self.hidden.to(x.dtype)\n        return x + self.hidden",
}


def _file(folder: Path, body: str) -> Path:
    path = folder / "net.py"
    path.write_text(SOURCE.format(body=body), encoding="utf-8")
    return path


def _said(path: Path) -> str:
    project = Project(())
    return judge_mode(Program(project), find_target(project.module(path), "Net")).verdict


def _repeats(path: Path) -> bool:
    """Whether eager gives the same twice."""
    names: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    net, x = names["Net"]().eval(), torch.rand(2, 4)
    with torch.no_grad():
        first, second = net(x), net(x)
    return torch.equal(first, second)


@pytest.mark.parametrize("body", CARRIED.values(), ids=CARRIED)
def test_what_a_call_carries_to_the_next_is_state(tmp_path: Path, body: str):
    path = _file(tmp_path, body)
    assert _said(path) == "dependent"
    assert not _repeats(path)


@pytest.mark.parametrize("body", NOT_CARRIED.values(), ids=NOT_CARRIED)
def test_what_no_call_takes_over_is_none(tmp_path: Path, body: str):
    path = _file(tmp_path, body)
    assert _said(path) == "independent"
    assert _repeats(path)
