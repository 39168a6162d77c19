"""What is written through ``.data``: the trace keeps the tensor that it reads as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.judges.test_trace_consequences import verdict

LOST = {
    "a method": "self.level.data.copy_(x.mean(0))\n        return x * self.level",
    "one after another": "self.level.data.zero_().add_(x.mean(0))\n        return x * self.level",
    "brackets": "self.level.data[0] = x.mean()\n        return x * self.level",
    "of a view": "self.level.data.view(2, 2)[0] = x.mean()\n        return x * self.level",
    "a name": "data = self.level.data\n        data += x.mean(0)\n        return x * self.level",
    "the argument out": "torch.add(x.mean(0), 1, out=self.level.data)\n        return x * self.level",
    "in its place": "self.level.data = x.mean(0)\n        return x * self.level",
    "of a parameter": "self.weight.data = x.mean(0)\n        return x * self.weight",
    "read before": "y = x * self.level\n        self.level.data.copy_(x.mean(0))\n        return y",
    "random numbers": "self.level.data.normal_()\n        return x * self.level",
    "random numbers that are made": "self.level.data.copy_(torch.randn(4))\n        return x * self.level",
    "an initialiser": "nn.init.normal_(self.level.data)\n        return x * self.level",
    "less each time": "self.level.data.mul_(0.9)\n        return x * self.level",
    "less each time in its place": "self.level.data = 0.9 * self.level.data\n        return x * self.level",
    "the other sign each time": "self.level.data = -self.level\n        return x * self.level",
    "more each time": "self.level.data += 1\n        return x * self.level",
    "by a function": "torch.neg_(self.level.data)\n        return x * self.level",
    "more each time but for a part": "self.level.data[:2].zero_()\n        self.level.data.add_(1)\n        return x * self.level",
    "made anew on one way only": "if self.level.sum() > 9:\n            self.level.data.zero_()\n        self.level.data.add_(1)\n        return x * self.level",
    "a constant for what is computed": "y = x + 1\n        y.data = torch.ones(3, 4)\n        return y",
    "of what is computed": "y = x + 1\n        y.data = x * 2\n        return y",
}
FOLLOWED = {
    "the tensor itself": "self.level.copy_(x.mean(0))\n        return x * self.level",
    "detached": "self.level.detach().copy_(x.mean(0))\n        return x * self.level",
    "what is read by the same name": "data = self.level.data\n        data.copy_(x.mean(0))\n        return x * data",
    "what no call reads": "self.level.data.mul_(0.9).add_(x.mean(0))\n        return x * 2",
    "scaled to one length": "self.level.data = self.level.data / self.level.data.norm()\n        return x * self.level",
    "masked": "self.level.data = self.level.data * self.weight\n        return x * self.level",
    "made anew and doubled": "self.level.data.fill_(2)\n        self.level.data = self.level.data * 2\n        return x * self.level",
    "made anew after one way": "if x.dim() == 1:\n            self.level.data.zero_()\n        self.level.data.zero_()\n        self.level.data.add_(1)\n        return x * self.level",
    "made anew on the same way": "if x.dim() == 2:\n            self.level.data.zero_()\n            self.level.data.add_(1)\n        return x * self.level",
    "made anew before": "self.level.data.zero_().add_(1)\n        return x * self.level",
    "made anew one after another": "self.level.data.fill_(2)\n        self.level.data.add_(1)\n        return x * self.level",
    "random numbers that no call reads": "self.level.data.normal_()\n        return x * 2",
    "what the writing gives": "eps = self.level.data.normal_()\n        return x * eps",
    "what the writing gives at once": "return x * self.level.data.copy_(x.mean(0))",
    "a constant": "nn.init.constant_(self.level.data, 2)\n        return x * self.level",
    "what is the same each time": "self.weight.data.clamp_(min=0.5)\n        return x * self.weight",
}
CASES = {**LOST, **FOLLOWED}


MODULE = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("level", torch.ones(4))
        self.weight = nn.Parameter(torch.zeros(4))

    def forward(self, x):
        """


def _source(name: str) -> str:
    return MODULE + CASES[name] + "\n"


@pytest.mark.parametrize("name", CASES)
def test_the_judge_tells_what_the_trace_loses(tmp_path: Path, name: str) -> None:
    assert verdict(tmp_path, _source(name)) == ("hazardous" if name in LOST else "safe")


def _seeded(module: torch.nn.Module, x: torch.Tensor) -> torch.Tensor:
    torch.manual_seed(7)
    return module(x)


@pytest.mark.parametrize("name", CASES)
def test_a_trace_loses_it(name: str) -> None:
    names: dict[str, Any] = {"__name__": "model"}
    exec(_source(name), names)
    first, *others = (torch.arange(12.0).view(3, 4) * factor for factor in (1, 2, 3))
    eager = names["Net"]()
    eager(first)
    traced = torch.jit.trace(names["Net"](), (first,), check_trace=False)
    is_right = all(torch.allclose(_seeded(traced, other), _seeded(eager, other)) for other in others)
    assert is_right == (name in FOLLOWED)
