"""A forward that returns what is no tensor: torch.jit.trace and torch.export refuse it, and it is told."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.torch_here import RELEASE
from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

MODULE = """\
import functools
import torch
from torch import nn

def helper(x):
    return x

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.act, self.kind, self.place = torch.relu, torch.float32, torch.device("cpu")

    def other(self, x):
        return x

    def forward(self, x):
        def inner(y):
            return y + x
        return {returned}
"""
REFUSED = {
    "a function": "x * 2, helper",
    "a function that it defines": "x * 2, inner",
    "a function alone": "helper",
    "a lambda": "x * 2, (lambda y: y)",
    "a method": "x * 2, self.other",
    "a method of a tensor": "x * 2, x.relu",
    "a partial": "x * 2, functools.partial(helper)",
    "a class": "x * 2, Net",
    "a class of torch": "x * 2, nn.ReLU",
    "a function of torch": "x * 2, torch.relu",
    "a function of torch that it holds": "x * 2, self.act",
    "a module": "x * 2, torch",
    "a dtype": "x * 2, torch.float32",
    "a dtype that it holds": "x * 2, self.kind",
    "the dtype of the input": "x * 2, x.dtype",
    "a device": "x * 2, self.place",
}
TAKEN = {"tensors": "x * 2, x + 1", "what a function gives": "x * 2, helper(x) + 1, inner(x)"}


def written(folder: Path, returned: str) -> Path:
    file = folder / "model.py"
    file.write_text(textwrap.dedent(MODULE.format(returned=returned)))
    return file


@pytest.mark.parametrize("returned", [*REFUSED.values(), *TAKEN.values()], ids=[*REFUSED, *TAKEN])
def test_it_is_told_as_torch_has_it(tmp_path: Path, returned: str):
    file = written(tmp_path, returned)
    program = Program(Project((tmp_path,)), RELEASE)
    judgement = judge(program, find_target(program.project.module(file), "Net"))
    is_refused = returned in REFUSED.values()
    assert judgement.trace == ("hazardous" if is_refused else "safe")
    assert judgement.export.verdict == ("refused" if is_refused else "exports")
    names: dict[str, Any] = {"__name__": "model"}
    exec(file.read_text(), names)
    module, inputs = names["Net"](), (torch.randn(2, 3),)
    for attempt in (torch.jit.trace, torch.export.export):
        if is_refused:
            with pytest.raises(RuntimeError):
                attempt(module, inputs)
        else:
            attempt(module, inputs)
