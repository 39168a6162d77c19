"""Python's ways of handing a value on: whatever it goes through, a trace that asks it is as wrong as torch has it.

A part of ``carriers.txt`` hands ``v`` on as ``w``, with definitions above a line of dashes.
"""

from __future__ import annotations

import importlib.util
import textwrap
import warnings
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from tsguard.analysis.python import Program  # noqa: E402
from tsguard.judges import judge  # noqa: E402
from tsguard.project import Project  # noqa: E402
from tsguard.project.targets import find_target  # noqa: E402

CARRIERS = (Path(__file__).parent / "carriers.txt").read_text(encoding="utf-8").split("### ")[1:]
KINDS = {
    "data": ("(x > 0).sum()", "w > 1", torch.full((2, 4), -1.0)),
    "size": ("x.shape[0]", "w > 4", torch.ones(5, 4)),
}
MODULE = """
import collections, contextlib, copy, dataclasses, functools, itertools, operator
from collections import OrderedDict, defaultdict, deque
from types import SimpleNamespace

import torch
from torch import nn

{definitions}

class Net(nn.Module):
    def forward(self, x):
        v = {value}
{carried}
        if {question}:
            return x * 2
        return x
"""


def is_wrong(path: Path, other: object) -> bool:
    """Whether what torch traces gives other results than eager where the answer is another one."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    net = module.Net()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        traced = torch.jit.trace(net, torch.ones(2, 4), check_trace=False)
    return not torch.equal(traced(other), net(other))


@pytest.mark.parametrize("kind", KINDS)
def test_a_question_is_told_however_its_value_came_there(kind: str, tmp_path: Path):
    value, question, other = KINDS[kind]
    project, told, wrong = Project((tmp_path,)), {}, {}
    for number, part in enumerate(CARRIERS):
        name, _, code = part.partition("\n")
        definitions, _, carried = code.rpartition("---\n")
        path = tmp_path / f"{kind}_{number}.py"
        text = {"definitions": definitions, "carried": textwrap.indent(carried, " " * 8)}
        path.write_text(MODULE.format(value=value, question=question, **text), encoding="utf-8")
        wrong[name] = is_wrong(path, other)
        verdict = judge(Program(project), find_target(project.module(path), "Net")).trace
        told[name] = verdict == "hazardous"
    assert told == wrong
