"""Decorators that put methods on a class in place of its own, or make another class of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from tsguard.analysis.python import Program
from tsguard.judges import Judgement, judge
from tsguard.project import Project
from tsguard.project.targets import find_target

NET = """\
import functools

from torch import nn

KNOWN = {}


def dispatch(cls=None, *, frozen=False):
    def wrapper(cls):
        original = cls.forward

        @functools.wraps(original)
        def forward(self, *args, **kwargs):
            y = original(self, *args, **kwargs)
            return y * int(y.sum()) if frozen else y

        cls.forward = forward
        return cls

    return wrapper if cls is None else wrapper(cls)


def doubling(cls):
    def forward(self, x):
        return x * 2

    cls.forward = forward
    return cls


def derived(cls):
    class Derived(cls):
        def forward(self, x):
            return x * int(x.sum())

    return Derived


def unread(cls):
    import elsewhere

    cls.forward = elsewhere.forward
    return cls


def register(cls):
    KNOWN[cls.__name__] = cls
    cls.known = True
    return cls


@DECORATOR
class Net(nn.Module):
    def forward(self, x):
        return BODY
"""


@pytest.mark.parametrize(
    ("decorator", "body", "trace"),
    [
        ("dispatch", "x * 2", "safe"),
        ("dispatch", "x * int(x.sum())", "hazardous"),
        ("dispatch(frozen=True)", "x * 2", "hazardous"),
        ("doubling", "x * int(x.sum())", "safe"),
        ("register", "x * int(x.sum())", "hazardous"),
    ],
)
def test_the_forward_that_a_decorator_puts_on_a_class_is_the_one_that_runs(
    tmp_path: Path, decorator: str, body: str, trace: str
) -> None:
    source = NET.replace("DECORATOR", decorator).replace("BODY", body)
    assert _judged(tmp_path, source).trace == trace
    names: dict[str, Any] = {"__name__": "net"}
    exec(source, names)
    net, other = names["Net"](), torch.ones(3) * 2
    traced = torch.jit.trace(net, (torch.ones(3),), check_trace=False)
    assert torch.equal(traced(other), net(other)) is (trace == "safe")


@pytest.mark.parametrize("decorator", ["derived", "unread"])
def test_nothing_is_promised_of_what_a_decorator_makes_that_was_not_read(
    tmp_path: Path, decorator: str
) -> None:
    judgement = _judged(tmp_path, NET.replace("DECORATOR", decorator).replace("BODY", "x * 2"))
    assert (judgement.script, judgement.trace) == ("unknown", "unknown")


def _judged(tmp_path: Path, source: str) -> Judgement:
    net = tmp_path / "net.py"
    net.write_text(source, encoding="utf-8")
    project = Project((tmp_path,))
    return judge(Program(project), find_target(project.module(net), "Net"))
