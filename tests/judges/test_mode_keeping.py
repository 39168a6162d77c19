"""Branches of one mode that only keep something: no difference, unless the call reads what they keep."""

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
import inspect
import operator

import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.drop = nn.Dropout(0.5)
        self.register_buffer("sum", torch.zeros(4))
        self.kept, self.count = None, 0

    @property
    def scale(self):
        return self.sum

    @scale.setter
    def scale(self, value):
        self.sum = value

    def record(self, x, *rest, named=0):
        self.kept = torch.get_rng_state()
        if torch.cuda._initialized:
            self.count = len(rest)

    def note(self, x):
        self.sum.add_(x.mean())

    def forward(self, x, again=False, name="count"):
        {body}
"""
INDEPENDENT = {
    "what a method keeps": "if self.training:\n            self.record(x, named=1)\n        return x * 2",
    "what is computed": "if self.training:\n            self.kept = x.detach().mean()\n        return x * 2",
    "of a parameter": "if self.training:\n            self.kept = self.layer.weight.norm()\n        return x * 2",
    "kept in eval()": "if not self.training:\n            self.count = x.shape[0] + 1\n        return x * 2",
    "by another condition": "if self.training:\n            if x.shape[0] > 1:\n                self.kept = torch.sum(x)\n"
    "            else:\n                self.kept = 0\n        return x * 2",
    "what code that is not reached reads": "if self.training:\n            self.record(x)\n        if not again:\n"
    "            return x * 2\n        return x * self.count",
    "a count that nothing reads": "if self.training:\n            self.count = self.count + 1\n        return x * 2",
}
DEPENDENT = {
    "what is read": "if self.training:\n            self.count = 2\n        return x * self.count",
    "what is read by name": "if self.training:\n            self.count = 2\n        return x * getattr(self, 'count')",
    "what is read out of the dict": "if self.training:\n            self.count = 2\n        return x * self.__dict__['count']",
    "what is read by a name that is an argument": "if self.training:\n            self.count = 2\n"
    "        return x * getattr(self, name)",
    "what is read by one name after another": "if self.training:\n            self.count = 2\n"
    "        for name in dir(self):\n            if name == 'count':\n                x = x * getattr(self, name)\n"
    "        return x",
    "what is read by a function that a name makes": "if self.training:\n            self.count = 2\n"
    "        return x * operator.attrgetter(name)(self)",
    "what is read by a function that several names make": "if self.training:\n            self.count = 2\n"
    "        return x * operator.attrgetter('kept', name)(self)[1]",
    "what is read by the method behind a name": "if self.training:\n            self.count = 2\n"
    "        return x * self.__getattribute__(name)",
    "what is read by the method of object": "if self.training:\n            self.count = 2\n"
    "        return x * object.__getattribute__(self, name)",
    "what is read without descriptors": "if self.training:\n            self.count = 2\n"
    "        return x * inspect.getattr_static(self, name)",
    "what a text reads": "if self.training:\n            self.count = 2\n        return x * eval('self.count')",
    "a buffer": "if self.training:\n            self.sum = x.mean(0)\n        return x * 2",
    "a buffer by a property": "if self.training:\n            self.scale = x.mean(0) * 2\n        return x * 2",
    "a buffer that a method changes": "if self.training:\n            self.note(x)\n        return x * 2",
    "a buffer that is written to": "if self.training:\n            self.kept = torch.add(x[0], 1, out=self.sum)\n        return x * 2",
    "a parameter": "if self.training:\n            self.second = self.layer.weight\n        return x * 2",
    "a new parameter": "if self.training:\n            self.second = nn.Parameter(x.mean())\n        return x * 2",
    "a parameter by a method": "if self.training:\n            self.second = self.layer.weight.float()\n        return x * 2",
    "a change in place by a flag": "if self.training:\n            self.kept = F.relu(x.neg_(), True).mean()\n        return x * 2",
    "a local": "if self.training:\n            self.kept = x = x * 2\n        return x * 2",
    "a change in place": "if self.training:\n            self.kept = x.mul_(2).mean()\n        return x * 2",
    "an item": "if self.training:\n            self.sum[0] = x.mean()\n        return x * 2",
    "a return": "if self.training:\n            self.kept = x.mean()\n            return x\n        return x * 2",
}
DRAWN = {
    "chance": "if self.training:\n            self.kept = torch.rand_like(x)\n        return x * 2",
    "a layer": "if self.training:\n            self.kept = self.drop(x).mean()\n        return x * 2",
    "a function": "if self.training:\n            self.kept = F.dropout(x).mean()\n        return x * 2",
    "a seed": "if self.training:\n            self.kept = torch.manual_seed(3)\n        return x * 2",
    "a method by chance": "if self.training:\n            self.kept = x.bernoulli()\n        return x * 2",
}
CASES = {**INDEPENDENT, **DEPENDENT, **DRAWN}


@pytest.mark.parametrize("name", CASES)
def test_the_judge_tells_what_matters(tmp_path: Path, name: str) -> None:
    path = tmp_path / "model.py"
    path.write_text(SOURCE.format(body=CASES[name]), encoding="utf-8")
    project = Project((tmp_path,))
    outcome = judge_mode(Program(project), find_target(project.module(path), "Net"))
    assert outcome.verdict == ("independent" if name in INDEPENDENT else "dependent")


@pytest.mark.parametrize("name", CASES)
def test_torch_agrees(name: str) -> None:
    """Asked is the result, what state_dict() holds, and which numbers come next."""
    scope: dict[str, Any] = {"__name__": "model"}
    exec(SOURCE.format(body=CASES[name]), scope)
    seen = []
    for training in (True, False):
        torch.manual_seed(5)
        net = scope["Net"]().train(training)
        x = torch.arange(8.0).view(2, 4) / 7
        result = net(x)
        seen.append([result, *net.state_dict().values(), torch.rand(2)])
    one, other = seen
    is_same = len(one) == len(other) and all(map(torch.equal, one, other))
    assert is_same == (name in INDEPENDENT)
