"""Tensors that Python makes of numbers: a trace has one for all calls, and keeps what is written into it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.judges.test_trace_consequences import eager_and_traced, verdict

NET = """\
import numpy
import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.ones(3))

    def forward(self, x):
        {body}
"""
KEPT = {
    "a sum": "t = torch.tensor(0.0); t += x.sum(); return t",
    "a method": "t = torch.as_tensor(0.0); t.add_(x.sum()); return t",
    "moved to the device": "t = torch.tensor(0.0).to(x.device); t += x.sum(); return t",
    "cast to what it is": "t = torch.tensor(0.0).to(x).float(); t += x.sum(); return t",
    "in a loop": "t = torch.tensor(0.0)\n        for y in (x, x * 2):\n            t += y.sum()\n        return t",
    "a method that makes one": "t = x.new_tensor(0.0); t *= x.sum(); t += 1; return t",
    "a view": "t = torch.tensor([0.0, 1.0]); v = t[1:]; v += x.sum(); return t",
    "an element that goes on": "t = torch.tensor([0.0, 1.0]); t[0] += x.sum(); return t",
    "after an element": "t = torch.tensor([0.0, 1.0]); t[0] = 1.0; t += x.sum(); return t",
    "a number alone": "t = torch.tensor([1.0, 2.0]); t += 1; return t + x.sum()",
    "into itself": "t = torch.tensor(0.0); torch.add(t, x.sum(), out=t); return t",
    "at indices that are added to": "t = torch.tensor([2.0, 3.0]); t.index_add_(0, torch.tensor([0]), x.sum()[None]); return t",
    "an element made of itself": "t = torch.tensor([1.0, 2.0]); t[0] = t[0] * x.sum(); return t",
    "a root each time": "t = torch.tensor(3.0); t.sqrt_(); return x * t",
    "under an index of the input": "t = torch.tensor([0.0, 1.0]); t[x.sum().long() % 2] = 5.0; return t",
    "by a size": "t = torch.tensor(2); t *= x.shape[0]; return t + x.sum()",
    "of an array of numpy": "t = torch.from_numpy(numpy.ones(3, numpy.float32)); t *= 2; return x * t",
    "made by asarray": "t = torch.asarray([0.0, 1.0, 2.0]); t += 1; return x * t",
    "made by its class of whole numbers, cast to what it is": "t = torch.Tensor([0]).float(); t += x.sum(); return t",
    "made by its class": "t = torch.FloatTensor([0.0, 1.0, 2.0]); t += 1; return x * t",
    "a piece": "t = torch.tensor([1.0, 2.0]); a, b = t.chunk(2); a += 1; return x.sum() * t",
    "a piece by a function": "t = torch.tensor([1.0, 2.0]); a, b = torch.split(t, 1); a += 1; return x.sum() * t",
    "transposed": "t = torch.tensor([[1.0], [2.0], [3.0]]).T; t *= 2; return x * t",
    "any other method": "t = torch.tensor([1.0, 2.0, 3.0]).log_(); t.cumsum_(0); return x * t",
    "whole parts of it": "t = torch.tensor([9.0, 8.0, 7.0]); t //= 2; return x * t",
    "by a parameter": "t = torch.tensor([1.0, 2.0, 3.0]); t.add_(self.weight); return x * t",
    "under a mask of its own": "t = torch.tensor([1.0, 2.0, 3.0]); t[t > 1] += 1; return x * t",
    "by another element": "t = torch.tensor([1.0, 2.0, 3.0]); t[0] += t[1]; return x * t",
    "moved by one": "t = torch.tensor([1.0, 2.0, 3.0]); t[:-1] = t[1:].clone(); return x * t",
    "two exchanged": "t = torch.tensor([1.0, 2.0, 3.0]); t[0], t[1] = t[1].clone(), t[0].clone(); return x * t",
    "an element made of all": "t = torch.tensor([1.0, 2.0, 3.0]); t[0] = t.sum(); return x * t",
    "a layer in place": "t = torch.tensor([1.0, -2.0, 3.0]); F.silu(t, inplace=True); return x * t",
    "into itself, of itself alone": "t = torch.tensor([1.0, 2.0, 3.0]); torch.exp(t, out=t); return x * t",
    "normalised, after a change": "t = torch.tensor([1.0, -2.0, 3.0]); t.relu_(); t -= t.mean(); return x * t",
    "normalised, and changed then": "t = torch.tensor([1.0, -2.0, 3.0]); t -= t.mean(); t.relu_(); return x * t",
    "normalised in two ways": "t = torch.tensor([1.0, 2.0, 3.0]); t /= t.sum(); t -= t.mean(); return x * t",
    "a sum after a remainder": "t = torch.tensor([1.0, 2.0, 3.0]); t %= 2; t += 1; return x * t",
    "renewed on one way only": (
        "t = torch.tensor(0.0)\n        if x.dim() == 1:\n            t.zero_()\n        t += x.sum()\n        return t"
    ),
}
MADE_ANEW = {
    "an operation": "t = torch.zeros(()); t += x.sum(); return t",
    "an array copied": "t = torch.tensor(numpy.ones(3, numpy.float32)); t *= 2; return x * t",
    "an array of another dtype": "t = torch.as_tensor(numpy.arange(3), dtype=torch.float32); t += 1; return x * t",
    "an element written anew before": "t = torch.tensor([0.0, 1.0]); t[0] = 5.0; t[0] += 1; return x.sum() + t",
    "a part written anew before": "t = torch.tensor([0.0, 1.0, 2.0]); t[1:3].zero_(); t[1:3] += x.sum(); return x * t",
    "an element made of another": "t = torch.tensor([1.0, 2.0, 3.0]); t[0] = t[1] * 2; return x * t",
    "a remainder": "t = torch.tensor([1.0, 2.0, 3.0]); t %= 2; return x * t",
    "normalised": "t = torch.tensor([1.0, 2.0, 3.0]); t /= t.sum(); return x * t",
    "nothing added": "t = torch.tensor([1.0, 2.0, 3.0]); t += 0; t *= 1; return x * t",
    "not in place": "t = torch.tensor(0.0); t = t + x.sum(); return t",
    "a copy": "t = torch.tensor(0.0).clone(); t += x.sum(); return t",
    "cast to another dtype": "t = torch.tensor(0.0).double(); t += x.sum(); return t",
    "of whole numbers, cast to that of the input": "t = torch.tensor([2, 3]).to(x.dtype); t += x.sum(); return t",
    "written anew": "t = torch.tensor(0.0); t.zero_(); t += x.sum(); return t",
    "written anew as a whole": "t = torch.tensor([0.0, 1.0]); t[:] = x.sum(); t += 1; return t",
    "copied into": "t = torch.tensor(0.0); t.copy_(x.sum()); return t",
    "written into by a function": "t = torch.tensor(0.0); torch.sum(x, (0, 1), out=t); return t",
    "at the same place each time": "t = torch.tensor([2.0, 3.0]); t[1], t[0] = x.sum(), x.mean(); return t",
    "at the same indices each time": (
        "t = torch.tensor([2.0, 3.0]); t.scatter_(0, torch.tensor([0]), x.sum()[None]); return t"
    ),
    "to what it is already": "t = torch.tensor([0.0, 1.0]); t.clamp_(min=0.5); return t + x.sum()",
    "what is added to by another": "loss = 0; t = torch.tensor(0.0); loss += t; loss += x.sum(); return loss",
    "without values": "t = torch.tensor([0.0]); t.detach_(); return t + x",
    "taken by indices": "t = torch.tensor([1.0, 2.0]); u = t[[0, 1]]; u += x.sum(); return u",
    "taken by a mask": "t = torch.tensor([1.0, 2.0]); u = t[t > 0]; u += x.sum(); return u",
    "laid out anew": "t = torch.tensor([[1.0, 2.0], [3.0, 4.0]]); u = t.t().contiguous(); u += x.sum(); return u",
    "repeated": "t = torch.tensor([1.0]).repeat(2); t += x.sum(); return t",
    "calculated": "t = torch.tensor(2.0) * x.mean(); t *= 2; return t",
}
CASES = {**KEPT, **MADE_ANEW}


@pytest.mark.parametrize("case", CASES)
def test_the_judge_tells_what_a_trace_keeps(tmp_path: Path, case: str) -> None:
    expected = "hazardous" if case in KEPT else "safe"
    assert verdict(tmp_path, NET.format(body=CASES[case])) == expected


@pytest.mark.parametrize("case", CASES)
def test_a_trace_keeps_it(tmp_path: Path, case: str) -> None:
    net, traced = eager_and_traced(tmp_path, NET.format(body=CASES[case]), torch.full((2, 3), 0.5))
    calls = [torch.full(sizes, value) for sizes, value in (((2, 3), 1.0), ((1, 3), 2.0), ((3, 3), 1.0))]
    alike = all(torch.allclose(traced(x), net(x)) for x in calls)
    assert alike == (case in MADE_ANEW)
