"""What dataclasses hold, by whichever constructor they are filled."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsguard.analysis.python import Program, PythonInterpreter
from tsguard.analysis.subjects import build
from tsguard.analysis.values import Const, ModuleValue
from tsguard.project import Project
from tsguard.project.targets import find_target

NET = """\
from dataclasses import dataclass
from torch import nn


@dataclass
class Base:
    size: int
    rows: int = 5
    total: int = 0

    def __post_init__(self):
        self.total = self.size * self.rows


class Config(Base):
    def __init__(self, size, factor=2):
        {call}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        config = Config(3)
        self.held = [config.size, config.rows, config.total]
"""


@pytest.mark.parametrize(
    "call",
    [
        "super().__init__(size * factor, 4)",
        "super(Config, self).__init__(size * factor, rows=4)",
        "Base.__init__(self, size * factor, rows=4)",
    ],
)
def test_a_class_may_fill_the_dataclass_that_it_derives_from(tmp_path: Path, call: str):
    (tmp_path / "net.py").write_text(NET.format(call=call), encoding="utf-8")
    scope: dict[str, type] = {}
    exec(NET.format(call=call), scope)
    interp = PythonInterpreter(Program(Project((tmp_path,))))
    module = build(interp, find_target(interp.program.project.module(tmp_path / "net.py"), "Net"))
    assert isinstance(module, ModuleValue)
    held = [value.value for value in module.attributes["held"].items if isinstance(value, Const)]  # type: ignore[attr-defined]
    assert held == scope["Net"]().held == [6, 4, 24]


MAPPED = """\
from torch import nn


class Config:
    names = {"dim": "size"}
    size: int = 3

    def __init__(self):
        setattr(self, "size", 4)
        self.size = self.size + 1
        self.dim = self.dim * 2

    def __setattr__(self, key, value):
        if key in super().__getattribute__("names"):
            key = super().__getattribute__("names")[key]
        super().__setattr__(key, value)

    def __getattr__(self, key):
        return getattr(self, super().__getattribute__("names")[key])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.held = Config().size
"""


def test_what_a_setattr_of_its_own_keeps_may_be_set_again(tmp_path: Path):
    (tmp_path / "net.py").write_text(MAPPED, encoding="utf-8")
    scope: dict[str, type] = {}
    exec(MAPPED, scope)
    interp = PythonInterpreter(Program(Project((tmp_path,))))
    module = build(interp, find_target(interp.program.project.module(tmp_path / "net.py"), "Net"))
    assert isinstance(module, ModuleValue)
    assert module.attributes["held"] == Const(scope["Net"]().held) == Const(10)


FILLED = """\
from collections import OrderedDict
from dataclasses import dataclass, fields
from torch import nn


@dataclass
class Output(OrderedDict):
    first: int
    second: int = None

    def __post_init__(self):
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None:
                self[field.name] = value

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        super().__setattr__(key, value)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        if not hasattr(nn.Module, "of_output"):
            setattr(nn.Module, "of_output", lambda module, output: list(output.values()))
        self.held = [*{k: v for k, v in Output(1, 2).items() if k != "second"}.values(), *self.of_output(Output(3, 4))]
"""


def test_a_dataclass_may_be_a_dict_and_a_class_of_torch_be_given_a_method(tmp_path: Path):
    (tmp_path / "net.py").write_text(FILLED, encoding="utf-8")
    interp = PythonInterpreter(Program(Project((tmp_path,))))
    module = build(interp, find_target(interp.program.project.module(tmp_path / "net.py"), "Net"))
    assert isinstance(module, ModuleValue)
    held = module.attributes["held"]
    assert [value.value for value in held.items] == [1, 3, 4]  # type: ignore[attr-defined]
    interp.program.put_back()
    assert not interp.program.patches
