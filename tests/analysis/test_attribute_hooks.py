"""A module whose class defines ``__setattr__``, ``__getattr__`` or ``__delattr__``, or calls those of torch by name."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
import torch

from tests.rules.on_torch import load
from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        {made}

    {hook}

    def forward(self, x):
        return self.layer(x) * self.number
"""
SET = "def __setattr__(self, name, value):\n        "
GET = "def __getattr__(self, name):\n        "
DELETE = "def __delattr__(self, name):\n        "
TEXT = 'str(value) if name == "number" else value'
ACCEPTED = {
    "torch's own, by name": ("self.number = 3", SET + "nn.Module.__setattr__(self, name, value)"),
    "another name": (
        "self.other = 3",
        SET + 'super().__setattr__("number" if name == "other" else name, value)',
    ),
    "what is not kept": (
        "self.number = 3; self.text = lambda: 1",
        SET
        + "if not callable(value) or isinstance(value, nn.Module):\n            super().__setattr__(name, value)",
    ),
    "what the constructor asks for": (
        "self.number = self.missing",
        GET + "return 3 if name == 'missing' else super().__getattr__(name)",
    ),
    "what a layer has": (
        "self.number = self.in_features",
        GET
        + "try:\n            return super().__getattr__(name)\n        except AttributeError:\n            return getattr(self.layer, name)",
    ),
    "what is not deleted": ("self.number = 3\n        del self.number", DELETE + "pass"),
    "torch's methods by name": (
        'nn.Module.register_buffer(self, "number", torch.ones(3))',
        "extra = nn.Module.extra_repr",
    ),
}
REFUSED = {
    "another value": ("self.number = 3", SET + f"super().__setattr__(name, {TEXT})"),
    "another value by setattr": ('setattr(self, "number", 3)', SET + f"super().__setattr__(name, {TEXT})"),
    "another name": (
        "self.number = 3",
        SET + 'super().__setattr__("other" if name == "number" else name, value)',
    ),
    "what only __getattr__ gives": (
        "pass",
        GET + "return 3 if name == 'number' else super().__getattr__(name)",
    ),
    "a text that the constructor asks for": (
        "self.number = self.missing",
        GET + "return 'text' if name == 'missing' else super().__getattr__(name)",
    ),
    "what is deleted": ("self.number = 3\n        del self.number", DELETE + "super().__delattr__(name)"),
}
CASES = [("accepted", name) for name in ACCEPTED] + [("refused", name) for name in REFUSED]


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_the_judge_says_as_torch_does(tmp_path: Path, kind: str, name: str) -> None:
    made, hook = (ACCEPTED if kind == "accepted" else REFUSED)[name]
    path = tmp_path / "model.py"
    path.write_text(textwrap.dedent(NET).format(made=made, hook=hook), encoding="utf-8")
    project = Project((tmp_path,))
    verdict = judge(Program(project), find_target(project.module(path), "Net")).script
    assert (verdict == "ok") == (kind == "accepted")

    module = load(str(path))
    if kind == "accepted":
        torch.jit.script(module.Net())
    else:
        with pytest.raises(Exception, match=r"number|mul"):
            torch.jit.script(module.Net())


RESET = """\
import torch
from torch import nn


class Scaled(nn.{layer}):
    def {name}(self):
        self.scale = {value}
        super().{name}()

    def forward(self, x):
        return x * self.scale
"""


@pytest.mark.parametrize(
    ("layer", "name", "args"),
    [("Linear", "reset_parameters", "(3, 3)"), ("MultiheadAttention", "_reset_parameters", "(4, 2)")],
)
@pytest.mark.parametrize(("value", "verdict"), [("2", "ok"), ("'text'", "blocked")])
def test_what_resets_the_weights_is_run_when_they_are_made(
    tmp_path: Path, layer: str, name: str, args: str, value: str, verdict: str
) -> None:
    path = tmp_path / "model.py"
    path.write_text(RESET.format(layer=layer, name=name, value=value), encoding="utf-8")
    project = Project((tmp_path,))
    target = find_target(project.module(path), f"Scaled{args}")
    assert judge(Program(project), target).script == verdict
