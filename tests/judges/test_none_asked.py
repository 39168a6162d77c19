"""How a forward asks whether a parameter without annotation was left out, held against torch and eager."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
import torch

from tsguard.analysis.python import Program
from tsguard.judges.script import judge_script
from tsguard.project import Project
from tsguard.project.targets import find_target

FILE = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = 1.0

    def forward(self, x, mask=None):
        {body}
        return x
"""
OTHERWISE = [
    "if (mask is None) == (self.kept is None): raise ValueError",
    "if not (mask is None) ^ (self.kept is None): raise ValueError",
    "if not mask is None: raise ValueError",
    "x = x if isinstance(mask, torch.Tensor) else x * 2",
    "x = x * mask if isinstance(mask, torch.Tensor) else x",
]
ALWAYS_GIVEN = [
    "assert isinstance(mask, torch.Tensor); x = x * mask",
    "if not isinstance(mask, torch.Tensor): raise ValueError",
    "if not mask is not None: raise ValueError",
    "assert not mask is None; x = x * mask",
]


def called(net: torch.nn.Module) -> torch.Tensor | None:
    """What a call without the argument returns; None if it raises."""
    try:
        return net(torch.ones(3))
    except (RuntimeError, ValueError, AssertionError, torch.jit.Error):
        return None


@pytest.mark.parametrize("body", [*OTHERWISE, *ALWAYS_GIVEN])
def test_what_is_asked_is_answered_otherwise_unless_it_is_always_given(tmp_path: Path, body: str) -> None:
    path = tmp_path / "net.py"
    path.write_text(FILE.format(body=body), encoding="utf-8")
    project = Project((tmp_path,))
    verdict = judge_script(Program(project), find_target(project.module(path), "Net")).verdict
    assert verdict == ("broken" if body in OTHERWISE else "ok")

    net = runpy.run_path(str(path))["Net"]()
    eager, compiled = called(net), called(torch.jit.script(net))
    assert (eager is not None) == (body in OTHERWISE)
    if eager is not None:
        assert compiled is None or not torch.equal(eager, compiled)


HANDED = """\
import torch
from torch import nn


class Inner(nn.Module):
    def forward(self, x, mask):
        if isinstance(mask, {classes}):
            x = x * 2
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x, mask=None):
        return self.inner(x, mask)
"""


@pytest.mark.parametrize(
    ("classes", "is_other"), [("torch.Tensor", True), ("(int, torch.Tensor)", True), ("int", False)]
)
def test_what_is_handed_on_and_asked_for_its_class(tmp_path: Path, classes: str, is_other: bool) -> None:
    path = tmp_path / "net.py"
    path.write_text(HANDED.format(classes=classes), encoding="utf-8")
    project = Project((tmp_path,))
    outcome = judge_script(Program(project), find_target(project.module(path), "Net"))
    assert ("none-default" in {event.rule for event, _ in outcome.events}) == is_other

    net = runpy.run_path(str(path))["Net"]()
    x = torch.ones(3)
    assert torch.equal(net(x), torch.jit.script(net)(x)) != is_other
