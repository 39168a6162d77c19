"""Modules of other packages, by what their code leads to: functions of other files, static methods, tables of a module."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsguard.analysis.python import Program
from tsguard.judges.mode import judge_mode
from tsguard.project import Project
from tsguard.project.targets import find_target

FUNCTIONS = """\
import torch


def noisy(x):
    return x + torch.rand(1)


def doubled(x):
    return x * 2


class Draws:
    @staticmethod
    def one(high):
        return torch.empty(1).uniform_(0, high)
"""
PART = """\
import zoo.functional
from torch import nn
from zoo import functional as F
from zoo.functional import Draws


class Part(nn.Module):
    def __init__(self, size=3):
        super().__init__()
        self.size = size

    @staticmethod
    def params(high):
        return F.noisy(high)

    @classmethod
    def drawn(cls, x):
        return zoo.functional.noisy(x)

    def forward(self, x):
        {body}
"""
NET = """\
from torch import nn
from zoo.parts import Part


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()

    def forward(self, x):
        return self.part(x)
"""
NOTHING_RANDOM = PART.replace("F.noisy", "F.doubled").replace("zoo.functional.noisy", "F.doubled")


def _said(folder: Path, part: str) -> str:
    package = folder / "site-packages" / "zoo"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "functional.py").write_text(FUNCTIONS, encoding="utf-8")
    (package / "parts.py").write_text(part, encoding="utf-8")
    path = folder / "net.py"
    path.write_text(NET, encoding="utf-8")
    project = Project((folder, folder / "site-packages"))
    return judge_mode(Program(project), find_target(project.module(path), "Net")).verdict


@pytest.mark.parametrize(
    "body",
    [
        "return F.noisy(x)",
        "return x if self.size > 5 else zoo.functional.noisy(x)",
        "return x * self.params(x)",
        "return self.drawn(x)",
        "return x * Draws.one(3)",
        "return x * F.Draws.one(3)",
    ],
)
def test_what_a_package_draws_by_way_of_its_own_code_is_random(tmp_path: Path, body: str):
    assert _said(tmp_path, PART.format(body=body)) == "dependent"


@pytest.mark.parametrize("body", ["return F.doubled(x)", "return x * self.params(x)", "return self.drawn(x)"])
def test_what_a_package_computes_without_chance_is_not(tmp_path: Path, body: str):
    assert _said(tmp_path, NOTHING_RANDOM.format(body=body)) == "independent"
