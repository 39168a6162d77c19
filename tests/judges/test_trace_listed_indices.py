"""A list among the keys of a tensor becomes a tensor of numbers: a trace keeps those of the example."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.judges.test_trace_consequences import eager_and_traced, verdict

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, count=2):
        super().__init__()
        self.columns = [i for i in range(count)]

    def forward(self, x):
        n, m = x.shape
        {body}
"""
KEPT = {
    "a size beside a number": "return x[:, [0, m - 1]]",
    "a size alone": "return x[:, [m - 1]]",
    "a size in a tuple": "return x[:, (0, m - 1)]",
    "what a tensor holds": "return x[:, [x[0].argmax(), 0]]",
    "a size in a list that is the key": "return x[[n - 1, 0]]",
    "where it is assigned": "y = x.clone()\n        y[:, [m - 1]] = 0.0\n        return y",
}
FOLLOWED = {
    "numbers": "return x[:, [0, -1]]",
    "tensors in a list that is the key": "return x[[torch.arange(n), x.argmax(1)]]",
    "a tensor of what tensors hold": "return x[:, torch.stack([x[0].argmax()])]",
    "numbers of the module": "return x[:, self.columns]",
    "as many columns as the module has": (
        "y = x[:, self.columns]\n        for i in range(y.shape[1]):\n            x = x + y[:, i : i + 1]\n        return x"
    ),
}
CASES = {**{f"keeps {name}": body for name, body in KEPT.items()}, **FOLLOWED}


@pytest.mark.parametrize("case", CASES)
def test_the_judge_tells_what_is_kept(tmp_path: Path, case: str) -> None:
    expected = "hazardous" if case.startswith("keeps ") else "safe"
    assert verdict(tmp_path, NET.format(body=CASES[case])) == expected


@pytest.mark.parametrize("case", CASES)
def test_a_trace_keeps_it(tmp_path: Path, case: str) -> None:
    net, traced = eager_and_traced(tmp_path, NET.format(body=CASES[case]), torch.eye(3))
    others = [torch.arange(12.0).reshape(3, 4), torch.arange(15.0).reshape(5, 3)]
    alike = all(traced(x).shape == net(x).shape and torch.equal(traced(x), net(x)) for x in others)
    assert alike == (not case.startswith("keeps "))
