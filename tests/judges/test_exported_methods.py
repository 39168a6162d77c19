"""torch.jit.trace compiles exported methods, and functions for it: one that does not compile makes it raise."""

from __future__ import annotations

import linecache
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
import torch.jit.frontend

from tests.rules.on_torch import load
from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

SOURCE = """\
import torch
from torch import nn


class Part(nn.Module):
    @torch.jit.export
    def other(self, x):
        return {body}

    def forward(self, x):
        return x + 1


class Derived(Part):
    def more(self, x):
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()

    def forward(self, x):
        return self.part(x)
"""


@pytest.mark.parametrize("target", ["Part", "Derived", "Net"])
@pytest.mark.parametrize(
    ("body", "verdict"),
    [("[y for y in x if y]", "hazardous"), ("x.sum()", "safe"), ("x if x > 0 and x < 1 else -x", "safe")],
)
def test_an_exported_method_is_part_of_a_trace(tmp_path: Path, target: str, body: str, verdict: str) -> None:
    path = tmp_path / "model.py"
    path.write_text(SOURCE.replace("{body}", body), encoding="utf-8")
    project = Project((tmp_path,))
    assert judge(Program(project), find_target(project.module(path), target)).trace == verdict
    names: dict[str, Any] = {"__name__": "exported"}
    sys.modules["exported"] = ModuleType("exported")
    linecache.cache[str(path)] = (0, None, path.read_text().splitlines(keepends=True), str(path))
    exec(compile(path.read_text(), path, "exec"), names)
    try:
        torch.jit.trace(names[target](), (torch.ones(2),))
        is_traced = True
    except torch.jit.frontend.FrontendError:
        is_traced = False
    assert is_traced == (verdict == "safe")


COMPILED = """\
import torch
from torch import nn


@torch.jit.script_if_tracing
def chosen(x):
    {body}


class Net(nn.Module):
    def forward(self, x):
        return chosen(x)
"""


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        ("return [y for y in x if y]", "hazardous"),
        ("return x + {1, 2}.pop()", "hazardous"),
        ("return x + 1 if x.sum() > 0 else x - 1", "safe"),
    ],
)
def test_a_function_under_script_if_tracing_is_compiled_for_the_trace(
    tmp_path: Path, body: str, verdict: str
) -> None:
    path = tmp_path / "compiled.py"
    path.write_text(COMPILED.replace("{body}", body), encoding="utf-8")
    project = Project((tmp_path,))
    assert judge(Program(project), find_target(project.module(path), "Net")).trace == verdict
    net = load(str(path)).Net()
    try:
        torch.jit.trace(net, (torch.ones(2),))
        is_traced = True
    except torch.jit.frontend.FrontendError:
        is_traced = False
    assert is_traced == (verdict == "safe")
