"""What torch.compile gives, in code that is traced, scripted or exported: torch is asked of each."""

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
import os
from functools import partial, wraps

import torch
from torch import nn


@torch.compile
def decorated(x):
    return x + 1


@torch.compile(dynamic=True)
def configured(x):
    return x + 1


@torch.compile(disable=True)
def disabled(x):
    return x + 1


@partial(torch.compile, dynamic=True)
def partly(x):
    return x + 1


@torch.compile(disable=len(os.listdir(".")) > 1000)
def perhaps(x):
    return x + 1


def plain(x):
    return x + 1


by_name = torch.compile(plain)
of_a_lambda = torch.compile(lambda x: x * 2)


def lazily(function):
    compiled = None

    @wraps(function)
    def wrapper(*args, **kwargs):
        nonlocal compiled
        if compiled is None:
            compiled = torch.compile(function)
        return compiled(*args, **kwargs)

    return wrapper


@lazily
def lazy(x):
    return x + 1


class Layered(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.compiled_layer = torch.compile(nn.Linear(3, 3))
        self.method = torch.compile(self.doubled)
        self.switched = nn.Linear(3, 3)
        self.switched.compile()

    def doubled(self, x):
        return x * 2


class Net(Layered):
    def forward(self, x):
        return {made}
"""
REFUSED = [
    "decorated(x)",
    "configured(x)",
    "partly(x)",
    "by_name(x)",
    "of_a_lambda(x)",
    "lazy(x)",
    "torch.compile(plain)(x)",
    "self.compiled_layer(x)",
    "self.method(x)",
    "self.switched(x)",
]
TAKEN = ["disabled(x)", "plain(x)", "self.layer(x)"]


@pytest.fixture
def written(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    path = tmp_path / "net.py"
    path.write_text(FILE.format(made=request.param))
    return path


def judged(path: Path) -> Judgement:
    project = Project((path.parent,))
    return judge(Program(project, "2.13"), find_target(project.module(path), "Net"))


def traced(path: Path) -> None:
    torch.jit.trace(runpy.run_path(str(path))["Net"](), (torch.ones(2, 3),))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("written", REFUSED, indirect=True)
def test_a_trace_that_comes_upon_it_is_refused(written: Path) -> None:
    judgement = judged(written)
    assert judgement.trace == "hazardous"
    assert {f.code for f in judgement.findings if f.family == "trace"} == {"TSG221"}
    with pytest.raises(RuntimeError, match="dynamo-optimized"):
        traced(written)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("written", TAKEN, indirect=True)
def test_what_is_beside_it_is_traced(written: Path) -> None:
    assert judged(written).trace == "safe"
    traced(written)


@pytest.mark.parametrize("written", ["perhaps(x)"], indirect=True)
def test_whether_it_is_disabled_may_not_be_told(written: Path) -> None:
    judgement = judged(written)
    assert judgement.trace == "unknown"
    assert "is disabled" in judgement.trace_unknown[0].why
