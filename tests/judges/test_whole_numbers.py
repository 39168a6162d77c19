"""Constructor arguments of unknown type: eager takes a whole number for a float, TorchScript does not."""

from __future__ import annotations

import contextlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from tests.rules.on_torch import load
from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

NET = """\
import torch
import torch.nn.functional as F
from torch import nn


def scaled(x: torch.Tensor, scale: float, shifts: list[float] = (0.0,)) -> torch.Tensor:
    return x * scale + torch.tensor(shifts).sum()


class Net(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.s = s

    def forward(self, x):
        {forward}
"""
# The use; what torch takes and what it refuses, both of which eager takes; the condition that is told.
TOLD = {
    "a scale": ("return F.interpolate(x, scale_factor=self.s)", 2.0, 2, "isinstance(s, int)"),
    "two scales": ("return F.interpolate(x, scale_factor=(self.s, self.s))", 2.0, 2, "isinstance(s, int)"),
    "by a name": ("s = self.s; return F.leaky_relu(x, s)", 0.5, 2, "isinstance(s, int)"),
    "of a function of the project": ("return scaled(x, scale=self.s)", 0.5, 2, "isinstance(s, int)"),
    "a list": ("return scaled(x, 1.0, self.s)", [0.5], [2], "isinstance(s[0], int)"),
    "or a float": ("return x * (self.s if x.shape[0] > 1 else 1.0)", 0.5, 2, "isinstance(s, int)"),
    "or an int": ("return x * (self.s if x.shape[0] > 1 else 1)", 2, 0.5, "isinstance(s, float)"),
    "a variable that is a float": (
        "y = 1.0\n        if x.shape[0] > 1:\n            y = self.s\n        return x * y",
        0.5,
        2,
        "isinstance(s, int)",
    ),
    "a variable of two branches": (
        "if x.shape[0] > 1:\n            y = self.s\n        else:\n            y = 1\n        return x * y",
        2,
        0.5,
        "isinstance(s, float)",
    ),
    "or a tensor": (
        "return x * (self.s if x.shape[0] > 1 else x)",
        torch.ones(()),
        2,
        "not isinstance(s, Tensor)",
    ),
    "a variable that is a tensor": (
        "y = x.sum()\n        if x.shape[0] > 1:\n            y = self.s\n        return x * y",
        torch.ones(()),
        2,
        "not isinstance(s, Tensor)",
    ),
    "what is calculated of it": (
        "y = x.sum()\n        if x.shape[0] > 1:\n            y = self.s - 1\n        return x * y",
        torch.ones(()),
        2.5,
        "not isinstance(s, Tensor)",
    ),
}
# Uses that take both, or of which eager refuses what torch does.
UNTOLD = {
    "a number": ("return torch.clamp(x, min=self.s)", (2, 0.5)),
    "a factor": ("return x * self.s", (2, 0.5)),
    "made a float": ("return scaled(x, float(self.s))", (2, 0.5)),
    "a size": ("return F.interpolate(x, size=self.s)", (2,)),
    "a dimension": ("return x.softmax(self.s)", (0, 1)),
    "a variable that nothing else is": ("y = self.s\n        return x * y", (2, 0.5)),
}


def judged(tmp_path: Path, forward: str) -> Any:
    path = tmp_path / "model.py"
    path.write_text(NET.format(forward=forward), encoding="utf-8")
    project = Project((tmp_path,))
    return judge(Program(project), find_target(project.module(path), "Net"))


def is_scripted(tmp_path: Path, given: object) -> bool:
    """Whether torch compiles a module that eager runs."""
    module = load(str(tmp_path / "model.py")).Net(given)
    module(torch.ones(2, 3, 4, 4))
    with contextlib.suppress(RuntimeError):
        torch.jit.script(module)
        return True
    return False


@pytest.mark.parametrize(("forward", "taken", "refused", "when"), TOLD.values(), ids=TOLD)
def test_a_number_of_the_other_type_is_told(
    tmp_path: Path, forward: str, taken: object, refused: object, when: str
) -> None:
    found = judged(tmp_path, forward)
    assert found.script == "depends"
    assert {finding.when for finding in found.findings if finding.severity == "warning"} == {when}
    assert is_scripted(tmp_path, taken)
    assert not is_scripted(tmp_path, refused)


@pytest.mark.parametrize(("forward", "taken"), UNTOLD.values(), ids=UNTOLD)
def test_what_takes_all_that_eager_takes_is_ok(
    tmp_path: Path, forward: str, taken: tuple[object, ...]
) -> None:
    assert judged(tmp_path, forward).script == "ok"
    assert all(is_scripted(tmp_path, given) for given in taken)


@pytest.mark.parametrize("parameter", ["s: float", "s=0.5"])
def test_a_type_that_the_constructor_tells_is_not_asked_about(tmp_path: Path, parameter: str) -> None:
    path = tmp_path / "model.py"
    source = NET.format(forward="return F.leaky_relu(x, self.s)")
    path.write_text(source.replace("self, s", f"self, {parameter}"), encoding="utf-8")
    project = Project((tmp_path,))
    assert judge(Program(project), find_target(project.module(path), "Net")).script == "ok"


def test_a_number_that_a_configuration_holds_is_asked_about_beside_another(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    source = NET.format(forward="return x * (self.s if self.training else 0)").replace(
        "self.s = s", "self.s = s.rate"
    )
    path.write_text(source, encoding="utf-8")
    project = Project((tmp_path,))
    found = judge(Program(project), find_target(project.module(path), "Net"))
    assert found.script == "depends"
    assert {f.when for f in found.findings if f.severity == "warning"} == {"isinstance(s.rate, float)"}
    assert is_scripted(tmp_path, SimpleNamespace(rate=1))
    assert not is_scripted(tmp_path, SimpleNamespace(rate=0.5))
