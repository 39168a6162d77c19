"""A target is built once for all worlds that its constructor cannot tell apart."""

from __future__ import annotations

from pathlib import Path

from tsguard.analysis.python import Program, PythonInterpreter
from tsguard.analysis.subjects import built
from tsguard.analysis.terms import Parameter, Truth
from tsguard.analysis.worlds import World
from tsguard.project import Project
from tsguard.project.targets import find_target

NET = """\
from torch import nn


class Net(nn.Module):
    def __init__(self, deep=False, wide=True):
        super().__init__()
        self.part = nn.Linear(2, 2) if deep else nn.ReLU()
        self.wide = wide

    def forward(self, x):
        return self.part(x) if self.wide else x
"""


def test_only_what_the_constructor_asks_makes_another_target(folder: Path) -> None:
    file = folder / "net.py"
    file.write_text(NET)
    program = Program(Project((folder,)))
    target = find_target(program.project.module(file), "Net")

    def made(world: World) -> object:
        return built(PythonInterpreter(program, world), target)

    first = World()
    usual = made(first)
    (deep,) = first.answers
    assert isinstance(deep, Truth)
    assert isinstance(deep.subject, Parameter)
    wide = Truth(Parameter("wide", deep.subject.function, deep.subject.module))
    assert made(World({wide: False})) is usual
    assert made(World({deep: True})) is not usual
    assert made(World({deep: True, wide: False})) is made(World({deep: True}))
