"""Instances of subclasses of torch.Tensor, made in forward or held: torch is asked of each."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
import torch

from tsguard.analysis.python import Program
from tsguard.judges.judgement import Judgement, judge
from tsguard.project import Project
from tsguard.project.targets import find_target

FILE = """\
import torch
from torch import nn


class Noted(torch.Tensor):
    def note(self, what):
        self.what = what
        return self


class Other(nn.Parameter):
    pass


class Held(nn.Module):
    def __init__(self):
        super().__init__()
        self.held = Noted(torch.ones(3))

    def forward(self, x):
        return self.held + x


class Tagged(nn.Parameter):
    def __new__(cls, data, tag=0):
        made = super().__new__(cls, data)
        made.tag = tag
        return made


class Registered(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = Other(torch.ones(3))
        self.two = Tagged(torch.ones(3), tag=2)
        self.register_parameter("three", Other(torch.ones(3)))
        self.count = self.two.shape[0]

    def forward(self, x):
        return x * self.one + self.two * self.three


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x):
        {body}
"""
MADE = [
    "return Noted(x)",
    "return Noted(torch.relu(x))",
    "return Noted(x * 2).note(x)",
    "return Noted(x) + 1",
    "return Noted(self.weight) + x",
    "return x.as_subclass(Noted)",
]


def judged(tmp_path: Path, body: str, name: str = "Net") -> tuple[torch.nn.Module, Judgement]:
    path = tmp_path / "net.py"
    path.write_text(FILE.format(body=body))
    project = Project((tmp_path,))
    judgement = judge(Program(project, "2.13"), find_target(project.module(path), name))
    return runpy.run_path(str(path))[name](), judgement


@pytest.mark.parametrize("body", MADE)
def test_torch_export_refuses_to_make_one(tmp_path: Path, body: str):
    net, judgement = judged(tmp_path, body)
    assert judgement.export.verdict == "refused"
    with pytest.raises(RuntimeError, match="Creating a new Tensor subclass"):
        torch.export.export(net, (torch.ones(2, 3),))


@pytest.mark.parametrize("body", MADE)
def test_a_trace_takes_one_and_it_is_not_said_that_it_refuses(tmp_path: Path, body: str):
    net, judgement = judged(tmp_path, body)
    assert judgement.trace in ("safe", "unknown")
    assert torch.jit.trace(net, (torch.ones(2, 3),))(torch.zeros(2, 3)).equal(net(torch.zeros(2, 3)))


def test_an_instance_of_a_subclass_of_parameter_is_exported(tmp_path: Path):
    net, judgement = judged(tmp_path, "return Other(x) + 1")
    assert judgement.export.verdict != "refused"
    torch.export.export(net, (torch.ones(2, 3),))


def test_one_that_is_held_is_a_tensor_to_torchscript(tmp_path: Path):
    net, judgement = judged(tmp_path, "return x", "Held")
    assert judgement.script == "ok"
    assert torch.jit.script(net)(torch.ones(3)).equal(torch.full((3,), 2.0))


def test_one_of_a_class_that_derives_from_parameter_is_registered(tmp_path: Path):
    net, judgement = judged(tmp_path, "return x", "Registered")
    assert (judgement.script, judgement.trace) == ("ok", "safe")
    assert list(dict(net.named_parameters())) == ["one", "two", "three"]
    assert torch.jit.script(net)(torch.ones(3)).equal(torch.full((3,), 2.0))
