"""Calls of torch whose result, or refusal, a trace shares with eager: what is made of a tensor, of a shape, of a size."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.judges.test_trace_consequences import eager_and_traced, verdict

NET = """\
import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mask = None

    def forward(self, x):
        n = x.size(0)
        {body}
"""
RIGHT = {
    "a tensor of a tensor": "return torch.Tensor(x) * 2",
    "a tensor of a tensor, by its type": "return torch.FloatTensor(x) * 2",
    "another of a tensor": "return x.new(x) * 2",
    "a mask of a size": "return x @ x.T + nn.Transformer.generate_square_subsequent_mask(n)",
    "a mask of a size that is kept": (
        "if self.mask is None or self.mask.size(0) != n:\n"
        "            self.mask = nn.Transformer.generate_square_subsequent_mask(n)\n"
        "        return x @ x.T + self.mask"
    ),
    "a place in a given shape": "return torch.unravel_index(x.argmax(), (4, 9))[0]",
    "rows of what is resized": (
        "y = F.interpolate(x[None, None], size=(2, 5))\n"
        "        return sum(y[:, :, row].sum() for row in range(y.shape[2]))"
    ),
    "rows of what is pooled": (
        "y = F.adaptive_avg_pool2d(x[None, None], (2, 3))\n"
        "        return sum(y[:, :, row].sum() for row in range(y.shape[2]))"
    ),
    "numbers up to a half": "return torch.arange(0, n * 0.5, 0.5).sum() + x",
    "numbers up to a third": "return torch.arange(n / 3).sum() + x",
    "whole numbers, multiplied": "return (torch.arange(n) * 0.1).sum() + x",
    "an operator that nothing refuses": (
        "try:\n            return x * 2\n        except RuntimeError:\n            return x"
    ),
}
WRONG = {
    "numbers up to a product": "return torch.arange(0, n * 0.1, 0.1).sum() + x",
    "numbers up to a sum with one": "return torch.arange(0.1, n * 0.1 + 0.1, step=0.1).sum() + x",
    "a tensor of a number": "return torch.Tensor([n]) + x",
    "a tensor of sizes": "return torch.Tensor(n, 4).zero_() + x",
    "a place in the shape of an input": "return torch.unravel_index(x.argmax(), x.shape)[0]",
    "an operator whose shapes may not go together": (
        "y = x[:, 0]\n        try:\n            return x[:, :3] + y\n        except RuntimeError:\n            return x"
    ),
}
CASES = {**RIGHT, **WRONG}


@pytest.mark.parametrize("case", CASES)
def test_the_judge_knows_the_answer(tmp_path: Path, case: str) -> None:
    assert verdict(tmp_path, NET.format(body=CASES[case])) == ("safe" if case in RIGHT else "hazardous")


@pytest.mark.parametrize("case", CASES)
def test_a_trace_gives_what_eager_gives(tmp_path: Path, case: str) -> None:
    def is_alike() -> bool:
        net, traced = eager_and_traced(tmp_path, NET.format(body=CASES[case]), torch.ones(3, 4))
        others = [torch.arange(4.0 * rows).reshape(rows, 4) for rows in (3, 5, 8, 9, 11, 12)]
        return all(torch.allclose(traced(x), net(x)) for x in others)

    try:
        found = is_alike()
    except (RuntimeError, TypeError):
        found = False
    assert found == (case in RIGHT)
