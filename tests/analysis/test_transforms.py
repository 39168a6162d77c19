"""Classes whose fields a decorator, a base or a metaclass makes a constructor of (PEP 681)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsguard.analysis.python import Program, PythonInterpreter
from tsguard.analysis.subjects import build
from tsguard.analysis.values import Const, ModuleValue, Value
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

MARKED = """\
from typing import dataclass_transform


def spec(*, default=None, factory=None, init=True):
    return exec("")


@dataclass_transform(field_specifiers=(spec,))
def record(cls):
    exec("")
    return cls


@dataclass_transform(field_specifiers=(spec,))
class Meta(type):
    def __new__(cls, name, bases, namespace):
        return exec("")


class Model(metaclass=Meta):
    def __init__(self, **values):
        exec("")
"""
STUBBED = MARKED.replace("@dataclass_transform(field_specifiers=(spec,))\n", "", 1)
STUB = """\
from typing import Any, dataclass_transform

def spec(*, default: Any = ..., factory: Any = ..., init: bool = ...) -> Any: ...
@dataclass_transform(field_specifiers=(spec,))
def record(cls: type) -> type: ...
"""
NET = """\
from records import Model, record, spec
from torch import nn


{head}
    size: int
    rows: int = 5
    wide: int = spec(default=7)
    kinds: list = spec(factory=list)
    own: int = spec(default=1, init=False)
    loose = spec(default=2)

    def __hook_post_init__(self):
        self.total = self.size * self.rows


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        config = Config(3, rows=4)
        self.held = [config.size, config.rows, config.wide, len(config.kinds), config.own, config.loose]
        self.total = config.total

    def forward(self, x):
        return x * self.total
"""


def _held(net: Path) -> tuple[list[Value], Value]:
    target = find_target(Project().module(net), "Net")
    module = build(PythonInterpreter(Program(Project())), target)
    assert isinstance(module, ModuleValue)
    return module.attributes["held"].items, module.attributes["total"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("head", ["@record\nclass Config:", "class Config(Model):"])
@pytest.mark.parametrize("stub", [None, STUB])
def test_fields_are_bound_as_their_specifiers_tell(folder: Path, head: str, stub: str | None) -> None:
    package = folder / "records"
    package.mkdir()
    (package / "__init__.py").write_text(MARKED if stub is None else STUBBED)
    if stub is not None:
        (package / "__init__.pyi").write_text(stub)
    net = folder / "net.py"
    net.write_text(NET.format(head=head))
    held, total = _held(net)
    assert held == [Const(value) for value in (3, 4, 7, 0, 1, 2)]
    assert total == Const(12)


MODULE = """\
from dataclasses import dataclass
from torch import nn


@dataclass(eq=False)
class Head(nn.Module):
    width: int = 4

    def __post_init__(self):
        super().__init__()
        self.linear = nn.Linear(self.width, 1)

    def forward(self, x):
        return self.linear(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = Head(3)

    def forward(self, x):
        return self.head(x) * self.head.width
"""


def test_a_dataclass_as_a_module_has_no_source_of_its_constructor_but_where_it_is_a_submodule(
    folder: Path,
) -> None:
    net = folder / "net.py"
    net.write_text(MODULE)
    project = Project()
    head = judge(Program(project), find_target(project.module(net), "Head"))
    whole = judge(Program(project), find_target(project.module(net), "Net"))
    assert [finding.code for finding in head.findings if finding.family == "script"] == ["TSG1008"]
    assert whole.script == "ok"
