"""A dict of one item gives that one or raises: which key is asked for makes no difference, and is known afterwards."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.judges.test_trace_consequences import verdict

SOURCE = """
class Heads(nn.Module):
    def __init__(self, plans):
        super().__init__()
        self.plans = plans

    def forward(self, x):
        plan = self.plans[{key}]
        {after}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.keys = nn.Linear(8, 12)
        self.heads = Heads({plans})

    def forward(self, x):
        return self.heads(self.keys(x))
"""
SPLIT = "k = x.reshape(x.shape[0], x.shape[1], plan, 4)\n        return k * 2 if k.shape[2] == 3 else k"
RANK = "return x * plan if x.shape[2] == 12 else x"
CASES = {
    "the rank is known afterwards": ("x.ndim", "{3: 2}", RANK, "safe"),
    "what is kept is known": ("x.dim()", "{3: -1}", SPLIT, "safe"),
    "a size that varies": ("x.ndim", "{3: 2}", "return x * plan if x.shape[1] == 5 else x", "hazardous"),
    "nothing is known without it": (
        "x.ndim",
        "{3: 2}",
        "return x * plan if x.shape[0] == 5 else x",
        "hazardous",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_judge_tells_what_the_key_tells(tmp_path: Path, name: str) -> None:
    key, plans, after, expected = CASES[name]
    assert verdict(tmp_path, SOURCE.format(key=key, plans=plans, after=after)) == expected


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_torch_agrees(name: str) -> None:
    key, plans, after, expected = CASES[name]
    scope: dict[str, Any] = {"torch": torch, "nn": torch.nn}
    exec(textwrap.dedent(SOURCE.format(key=key, plans=plans, after=after)), scope)
    net = scope["Net"]()
    traced = torch.jit.trace(net, (torch.randn(3, 4, 8),))
    other = torch.randn(5, 5, 8)
    with pytest.raises(KeyError):
        net(torch.randn(5, 8))
    assert torch.equal(traced(other), net(other)) == (expected == "safe")
