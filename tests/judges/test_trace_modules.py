"""Modules whose constructors and calls decide what a trace may hold, held against torch as well."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.torch_here import RELEASE
from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

HEAD = """\
import math
from functools import partial

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.layers = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
        {made}

    def forward(self, x):
        {body}
"""
PADDED = """\
if x.dim() != 3:
            raise ValueError
        angles = x.sum((1, 2))[:, None] * self.kept[None]
        both = torch.cat((angles.cos(), angles.sin()), 1)
        return both * 2 if both.shape[1] < 3 else both"""
FUNCTION = """\
class Squared(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                with torch.enable_grad():
                    x = x.detach().requires_grad_(True)
                    y = x * x
                    return torch.autograd.grad({output}, x, {given})[0]

            @staticmethod
            def backward(ctx, given):
                return given

        self.kept = Squared.apply"""
GAIN = "self.kept = nn.init.calculate_gain('leaky_relu', math.sqrt(5)) * 2"

RIGHT = {
    "a buffer of computed size": ("self.kept = torch.exp(-2.0 * torch.arange(1, dtype=torch.float32) / 3)", PADDED),
    "a buffer broadcast": ("self.kept = (torch.ones(1) + torch.zeros(1, 1)).flatten()[:1].clone() * 1", "return x * self.kept"),
    "a gain": (GAIN, "return x * self.kept"),
    "two counts": ("_, self.kept = nn.init._calculate_fan_in_and_fan_out(self.layer.weight)", "return x * self.kept"),
    "a checked length": ("self.kept = 3", "assert len(x) == self.kept\n        a, b, c = x\n        return a + b * c"),
    "a length that raises": ("self.kept = 3", "if len(x) != 3:\n            raise ValueError\n        return x[0] + x[1] * x[2]"),
    "a checkpoint": ("self.kept = 3", "return checkpoint(self.layer, x, use_reentrant=False)"),
    "a checkpoint of a function": ("self.kept = 3", "return checkpoint(torch.sin, x, use_reentrant=True)"),
    "a branch within a checkpoint": (
        "self.kept = 3",
        "return checkpoint(lambda t: t * 2 if t.shape[0] > 3 else t * 5, x, use_reentrant=True)",
    ),
    "a function, as a checkpoint or not": (
        "self.kept = 3",
        "called = partial(checkpoint, torch.sin) if any(t.requires_grad for t in [x]) else torch.sin\n"
        "        return called(x)",
    ),
    "a buffer resized": (
        "self.register_buffer('kept', torch.zeros(1))",
        "self.kept.resize_(3).fill_(2.0)\n        return x * self.kept",
    ),
    "gradients of a sum within a function": (FUNCTION.format(output="y.sum()", given="torch.ones([])"), "return self.kept(x)"),
    "a call in a branch that is never taken": (
        "self.kept = None",
        "hook = getattr(self.layer, 'hook', self.kept)\n        if hook is not None:\n            hook.before(x)\n        return x * 2",
    ),
    "a number that is in a range": (
        "if any(i for i in [2] if i not in range(3)):\n            raise ValueError\n        self.kept = 2",
        "return x * self.kept",
    ),
    "one segment": ("self.kept = 3", "return checkpoint_sequential(self.layers, 1, x)"),
}  # fmt: skip
WRONG = {
    "a buffer resized to the input": (
        "self.register_buffer('kept', torch.zeros(1))",
        "self.kept.resize_(x.shape[1]).fill_(2.0)\n        return x * self.kept[:, None]",
    ),
    "gradients of several within a function": (
        FUNCTION.format(output="y", given="torch.ones_like(y)"),
        "return self.kept(x)",
    ),
    "a rest of the rows": ("self.kept = 3", "first, *rest = x\n        return first + sum(rest)"),
    "a checkpoint of unsaid kind": ("self.kept = 3", "return checkpoint(self.layer, x)"),
    "a checkpoint of a method": (
        "self.kept = 3",
        "return checkpoint(lambda t: self.layer(t), x, use_reentrant=True)",
    ),
    "a branch within the last segment": (
        "self.kept = lambda t: t * 2 if t.shape[0] > 3 else t * 5",
        "return checkpoint_sequential([torch.sin, self.kept], 2, x)",
    ),
    "segments": ("self.kept = 3", "return checkpoint_sequential(self.layers, 2, x)"),
    "segments by name": (
        "self.kept = 3",
        "return checkpoint_sequential(functions=self.layers, segments=2, input=x)",
    ),
    "segments of a list": ("self.kept = 3", "return checkpoint_sequential(list(self.layers), 2, x)"),
    "a buffer of another shape in place": (
        "kept = torch.zeros(3, 1)\n        kept.t_()\n        self.register_buffer('kept', kept)",
        "return x * len(x) if self.kept.shape[0] == 1 else x",
    ),
}
CASES = {**RIGHT, **WRONG}


def _source(name: str) -> str:
    made, body = CASES[name]
    return HEAD.format(made=made, body=body)


@pytest.mark.parametrize("name", CASES)
def test_the_judge_says_whether_the_trace_is_right(name: str, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(_source(name), encoding="utf-8")
    project = Project(())
    target = find_target(project.module(tmp_path / "net.py"), "Net")
    assert judge(Program(project, RELEASE), target).trace == ("safe" if name in RIGHT else "hazardous")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_torch_agrees(name: str) -> None:
    names: dict[str, Any] = {"__name__": "model"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(_source(name), "net.py", "exec"), names)
        net = names["Net"]().eval()
        try:
            traced = torch.jit.trace(net, (torch.ones(3, 4, 3),), check_trace=False)
        except (RuntimeError, IndexError, AssertionError):
            assert name in WRONG
            return
    others = [torch.rand(3, 5, 3)] + (
        [torch.rand(4, 4, 3)] if name not in RIGHT or "length" not in name else []
    )
    assert all(_alike(traced, net, other) for other in others) == (name in RIGHT)


def _alike(traced: Any, net: torch.nn.Module, given: torch.Tensor) -> bool:
    try:
        return torch.allclose(traced(given), net(given))
    except RuntimeError:
        return False
