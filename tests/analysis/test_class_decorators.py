"""Decorators that put methods on a class in place of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsguard.analysis.python import Program
from tsguard.judges import judge
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
    net = tmp_path / "net.py"
    net.write_text(NET.replace("DECORATOR", decorator).replace("BODY", body), encoding="utf-8")
    project = Project((tmp_path,))
    assert judge(Program(project), find_target(project.module(net), "Net")).trace == trace
