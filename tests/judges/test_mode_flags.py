"""Buffers that are flags: what the constructor made them decides, unless calls change them."""

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
from torch import nn, tensor


class Net(nn.Module):
    def __init__(self, lazy={lazy}):
        super().__init__()
        self.register_buffer("flag", {flag})
        self.register_buffer("mean", torch.zeros(4))
        self.drop = nn.Dropout(0.5)
        {made}

    def start(self, x):
        if self.flag:
            return
        self.mean.data.copy_(x.mean(0))
        self.flag.data.copy_(torch.tensor(True))

    def forward(self, x):
        {body}
"""
START = "self.start(x)\n        return x - self.mean"
DROP = "if self.flag:\n            x = self.drop(x)\n        return x + 1"
TURNS = (
    "if self.flag:\n            self.flag.fill_(False)\n            return x + 1\n        return self.drop(x)"
)
CASES = {
    "it was started": ("tensor(not lazy)", "False", "pass", START, "independent"),
    "it is started by the first call": ("tensor(not lazy)", "True", "pass", START, "dependent"),
    "off": ("torch.zeros(1)", "False", "pass", DROP, "independent"),
    "on": ("torch.ones(1)", "False", "pass", DROP, "dependent"),
    "turned on by the constructor": ("torch.zeros(1)", "False", "self.flag.fill_(1)", DROP, "dependent"),
    "assigned by the constructor": ("torch.zeros(1)", "False", "self.flag = tensor(1)", DROP, "dependent"),
    "turned off by the call": ("torch.ones(1)", "False", "pass", TURNS, "dependent"),
}


def _source(name: str) -> str:
    flag, lazy, made, body, _ = CASES[name]
    return SOURCE.format(flag=flag, lazy=lazy, made=made, body=body)


@pytest.mark.parametrize("name", CASES)
def test_the_judge_tells_what_the_flag_decides(tmp_path: Path, name: str) -> None:
    path = tmp_path / "model.py"
    path.write_text(_source(name), encoding="utf-8")
    project = Project((tmp_path,))
    outcome = judge_mode(Program(project), find_target(project.module(path), "Net"))
    assert outcome.verdict == CASES[name][-1]
    is_dropped = DROP in CASES[name] and outcome.verdict == "dependent"
    is_left_to_later_calls = TURNS in CASES[name]
    assert [layer.attribute for layer in outcome.layers] == ["drop"] * (is_dropped or is_left_to_later_calls)


@pytest.mark.parametrize("name", CASES)
def test_torch_agrees(name: str) -> None:
    """Asked are the results of two calls and what state_dict() holds after them."""
    scope: dict[str, Any] = {"__name__": "model"}
    exec(_source(name), scope)
    seen = []
    for training in (True, False):
        torch.manual_seed(5)
        net = scope["Net"]().train(training)
        before = {key: value.clone() for key, value in net.state_dict().items()}
        x = torch.arange(8.0).view(2, 4)
        results = [net(x), net(x)]
        is_kept = all(torch.equal(value, before[key]) for key, value in net.state_dict().items())
        seen.append((results, is_kept))
    (one, is_kept), (other, is_kept_too) = seen
    is_same = all(map(torch.equal, one, other)) and is_kept and is_kept_too
    assert is_same == (CASES[name][-1] == "independent")
