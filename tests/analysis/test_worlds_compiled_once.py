"""Worlds in which nothing tells the module apart are compiled once, and told apart where compiled code asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsguard.analysis.python import Program
from tsguard.analysis.python.structural_keys import StructuralKeys
from tsguard.analysis.terms import Parameter
from tsguard.analysis.values import External, ModuleValue, Unknown
from tsguard.judges import judge
from tsguard.judges.script import judge_script
from tsguard.project import Project
from tsguard.project.targets import find_target

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, {parameters}):
        super().__init__()
        {constructor}

    def forward(self, x):
        {forward}
"""
NOTHING_COMES_OF_IT = ("deep=False", "print('deep' if deep else 'flat')", "return x.no_such_method()")
ANOTHER_MODULE = ("deep=False", "self.part = nn.ReLU() if deep else None", "return self.part(x)")
ASKED_AGAIN = (
    "deep=None",
    "self.deep = deep\n        if deep is not None:\n            print('deep')",
    "return x if self.deep is None else x.no_such_method()",
)


def written(folder: Path, parameters: str, constructor: str, forward: str) -> tuple[Program, Path]:
    file = folder / "net.py"
    file.write_text(NET.format(parameters=parameters, constructor=constructor, forward=forward))
    return Program(Project((folder,))), file


@pytest.mark.parametrize(
    ("parts", "condition"),
    [(NOTHING_COMES_OF_IT, None), (ANOTHER_MODULE, "not deep"), (ASKED_AGAIN, "deep is not None")],
)
def test_what_is_found_holds_where_it_is_told_to(
    tmp_path: Path, parts: tuple[str, str, str], condition: str | None
):
    program, file = written(tmp_path, *parts)
    outcome = judge_script(program, find_target(program.project.module(file), "Net"))
    assert [when for _, when in outcome.events] == [condition]


def test_modules_that_hold_unknowns_of_one_term_are_alike():
    keys, node = StructuralKeys(), object()

    def module(name: str) -> ModuleValue:
        held = Unknown(Parameter(name, node))
        return ModuleValue(cls=External("torch.nn.Module"), attributes={"config": held})

    one, other, third = module("config"), module("config"), module("options")
    other.cls = third.cls = one.cls  # values of that kind are compared by identity
    assert keys.of(one) == keys.of(other) != keys.of(third)


def test_what_torch_export_makes_of_it_is_not_asked_where_nobody_tells(tmp_path: Path):
    asking = "return x if torch.jit.is_tracing() else x[x > 0]"
    program, file = written(tmp_path, "deep=False", "pass", asking)
    target = find_target(program.project.module(file), "Net")
    told = judge(program, target)
    untold = judge(Program(program.project, open_sizes=None), target)
    assert told.export.verdict != "unknown"
    assert (untold.export.verdict, untold.export.unknown) == ("unknown", ())
    assert (told.trace, told.script, told.findings) == (untold.trace, untold.script, untold.findings)
