"""Functions of other packages while a forward is traced: followed as Python runs them, or a gap."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsguard.analysis.python import Program
from tsguard.judges import Judgement, judge
from tsguard.project import Project
from tsguard.project.targets import find_target

# A package that picks what handles a tensor from the classes it defines, by the frameworks that are loaded.
TURNING = """\
import functools
import sys

_handlers = {}


class Handler:
    framework = ""


class AbsentHandler(Handler):
    framework = "a_framework_that_nobody_has"

    def turn(self, x, size):
        return x


class TorchHandler(Handler):
    framework = "torch"

    def __init__(self):
        import torch

        self.torch = torch

    def handles(self, x):
        return isinstance(x, self.torch.Tensor)

    def turn(self, x, size):
        return x.reshape(x.shape[0], size, -1)


def handler_of(x):
    kind = type(x)
    found = _handlers.get(kind, None)
    if found is not None:
        return found
    pending = Handler.__subclasses__()
    while pending:
        cls = pending.pop()
        pending += cls.__subclasses__()
        if cls.framework in sys.modules:
            handler = cls()
            if handler.handles(x):
                _handlers[kind] = handler
                return handler
    raise RuntimeError("no handler")


@functools.lru_cache(16)
def _size(pattern, rank):
    if rank != len(pattern.split()):
        raise ValueError("wrong shape")
    return int(pattern.split()[1])


def turn(x, pattern):
    try:
        return handler_of(x).turn(x, _size(pattern, len(x.shape)))
    except ValueError as error:
        raise ValueError(f"cannot turn by {pattern}") from error


def endless(x):
    for i in range(64):
        for j in range(64):
            for k in range(64):
                x = x + i * j * k
    return x


def refused(x):
    raise NotImplementedError
"""
NET = """\
import torch
from torch import nn
from turning import endless, refused, turn


class Net(nn.Module):
    def forward(self, x: torch.Tensor):
{body}
"""


def judged(folder: Path, *body: str) -> Judgement:
    site = folder / "site-packages"
    site.mkdir()
    (site / "turning.py").write_text(TURNING, encoding="utf-8")
    path = folder / "net.py"
    path.write_text(NET.format(body="\n".join(f"        {line}" for line in body)), encoding="utf-8")
    project = Project((folder, site))
    return judge(Program(project), find_target(project.module(path), "Net"))


def test_what_it_returns_has_the_shape_that_it_gives(tmp_path: Path):
    """The second size is 4 for every input: the loop is the same for all."""
    found = judged(
        tmp_path, "x = turn(x, 'b 4 n')", "for i in range(x.shape[1]):", "    x = x + i", "return x"
    )
    assert found.trace == "safe", found


def test_what_is_open_in_its_result_stays_open(tmp_path: Path):
    found = judged(
        tmp_path, "x = turn(x, 'b 4 n')", "for i in range(x.shape[2]):", "    x = x + i", "return x"
    )
    assert found.trace == "hazardous"


def test_the_rank_that_it_asks_for_is_learned(tmp_path: Path):
    """Another rank raises in eager: no note says that the trace serves one rank only."""
    found = judged(tmp_path, "return turn(x, 'b 4 n')")
    assert found.trace == "safe"
    assert [f.code for f in found.findings if f.family == "trace"] == []


@pytest.mark.parametrize("function", ["endless", "refused"])
def test_what_is_not_followed_to_its_end_is_a_gap(tmp_path: Path, function: str):
    found = judged(tmp_path, f"return {function}(x)")
    assert found.trace == "unknown"


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        ("*_, h, w = x.shape\nreturn x.reshape(*_, h * w)", "safe"),
        ("*_, w = x.shape\nfor i in range(w):\n    x = x + i\nreturn x", "hazardous"),
        ("x = nn.functional.pad(x, (0, 1))\nb, *rest = x.shape\nb, c, *rest = x.shape\nreturn x", "safe"),
    ],
)
def test_sizes_unpacked_with_a_star_tell_no_rank(tmp_path: Path, body: str, verdict: str):
    assert judged(tmp_path, *body.split("\n")).trace == verdict
