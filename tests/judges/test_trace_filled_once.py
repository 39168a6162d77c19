"""What the first call writes into buffers: a trace writes it in every call, or in none, unless all calls write the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.judges.test_trace_consequences import verdict
from tests.rules.on_torch import load

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("level", torch.zeros(()))
        self.is_ready = False

    def set_up(self, x):
        self.level.copy_(x.mean())

    def forward(self, x):
        {forward}
        return x - self.level
"""


def _lines(*lines: str) -> str:
    return "\n        ".join(lines)


BY_ONE_CALL = {
    "by the first call": _lines(
        "if not self.is_ready:", "    self.level.copy_(x.mean())", "    self.is_ready = True"
    ),
    "by the first call, which is noted before": _lines(
        "if not self.is_ready:", "    self.is_ready = True", "    self.level.copy_(x.mean())"
    ),
    "in a method": _lines("if not self.is_ready:", "    self.set_up(x)", "    self.is_ready = True"),
    "by assignment": _lines("if not self.is_ready:", "    self.level[...] = x.mean()", "    self.is_ready = True"),
    "by the first call, and by others otherwise": _lines(
        "if not self.is_ready:",
        "    self.level.copy_(x.mean())",
        "    self.is_ready = True",
        "else:",
        "    self.level.mul_(0.5).add_(x.mean() / 2)",
    ),
    "by all but the first call": _lines(
        "if self.is_ready:", "    self.level.mul_(0.5).add_(x.mean() / 2)", "self.is_ready = True"
    ),
}  # fmt: skip
ALIKE = {
    "a constant": _lines("if not self.is_ready:", "    self.level.fill_(2.0)", "    self.is_ready = True"),
    "a number beside it": _lines("if not self.is_ready:", "    self.scale = 2.0", "    self.is_ready = True"),
    "behind what no call changes": _lines("if not self.is_ready:", "    self.level.copy_(x.mean())"),
    "without a guard": _lines("self.level.copy_(x.mean())", "self.is_ready = True"),
}
CASES = {**BY_ONE_CALL, **ALIKE}


@pytest.mark.parametrize("name", CASES)
def test_the_judge_tells_what_one_call_writes(tmp_path: Path, name: str) -> None:
    found = verdict(tmp_path, NET.format(forward=CASES[name]))
    assert found == ("hazardous" if name in BY_ONE_CALL else "safe")


def _net(folder: Path, name: str) -> Any:
    path = folder / "filled.py"
    path.write_text(NET.format(forward=CASES[name]), encoding="utf-8")
    return load(str(path)).Net()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_a_trace_does_as_eager_in_each_call(tmp_path: Path, name: str) -> None:
    eager, example = _net(tmp_path, name), torch.ones(3)
    traced = torch.jit.trace(_net(tmp_path, name), (example,), check_trace=False)
    calls = (example, torch.full((3,), 2.0), torch.full((3,), 5.0))
    alike = all(torch.equal(eager(x), traced(x)) for x in calls)
    assert alike == (name in ALIKE)
