"""Modules that their constructor has changed: what torch compiles then is not what their class says."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
import torch
from torch import nn

from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

MODULE = """\
import types

import torch
from torch import nn
from torch.nn import functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)
        {change}

    def other(self, x):
        return x * 2

    def forward(self, x):
        return self.lin(x)
"""
NOT_TOLD = {
    "a parameter that is deleted": "del self.lin.bias",
    "a function of torch as forward": "self.lin.forward = F.relu",
    "the forward of another": "self.forward = self.lin.forward",
    "a lambda bound as forward": "self.forward = types.MethodType(lambda s, x: x, self)",
}
TOLD = {
    "a parameter that is None": "self.lin.bias = None",
    "a method as forward": "self.forward = self.other",
    "nothing": "pass",
}


def test_a_method_of_a_layer_that_nobody_read_is_not_called_ok(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    source = MODULE.format(change="pass").replace("return self.lin(x)", "return x, self.lin.extra_repr()")
    path.write_text(source, "utf-8")
    assert verdict(path) == "unknown"
    torch.jit.script(made(path))


def script(path: Path, change: str) -> str:
    path.write_text(MODULE.format(change=change), "utf-8")
    return verdict(path)


def verdict(path: Path) -> str:
    project = Project((path.parent,))
    return judge(Program(project), find_target(project.module(path), "Net")).script


@pytest.mark.parametrize("change", NOT_TOLD.values(), ids=NOT_TOLD)
def test_what_the_class_does_not_tell_is_not_called_ok(tmp_path: Path, change: str) -> None:
    assert script(tmp_path / "model.py", change) == "unknown"
    with pytest.raises((RuntimeError, AttributeError)):
        torch.jit.script(made(tmp_path / "model.py"))


@pytest.mark.parametrize("change", TOLD.values(), ids=TOLD)
def test_what_the_class_tells_is_ok(tmp_path: Path, change: str) -> None:
    assert script(tmp_path / "model.py", change) == "ok"
    torch.jit.script(made(tmp_path / "model.py"))


def made(path: Path) -> nn.Module:
    spec = importlib.util.spec_from_file_location("altered_model", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    net = module.Net()
    assert isinstance(net, nn.Module)
    return net
