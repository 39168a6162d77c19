"""What own functions return, or containers hold, is as unlike Python's values as what it is made of."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
import torch

from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

HEAD = """\
from typing import Dict, List, NamedTuple

import torch
from torch import nn


class Both(NamedTuple):
    mask: torch.Tensor
    rest: torch.Tensor


def scaled(x: torch.Tensor, n: int):
    return x * n


class Negative(nn.Module):
    def forward(self, x):
        return (x < 0) & True


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.negative = Negative()
        self.chain = nn.Sequential(Negative())
        self.register_buffer("kept", torch.zeros(2, 4, dtype=torch.bool))

    def mask(self, x):
        return (x < 0) & True

    def two(self, x):
        return (x < 0) & True, x

    def both(self, x):
        return Both((x < 0) & True, x)

    def name(self, x):
        return [str(x.dtype)]

    @property
    def count(self):
        return 2**2

    def forward(self, x):
        {body}
"""
WRONG = {
    "of a method": "return x.masked_fill(self.mask(x), 0.0)",
    "of a property": "return x[:, torch.arange(self.count)]",
    "of a submodule": "return x.masked_fill(self.negative(x), 0.0)",
    "of a chain": "return x.masked_fill(self.chain(x), 0.0)",
    "an item of a tuple": "mask, _ = self.two(x)\n        return x.masked_fill(mask, 0.0)",
    "a field": "return x.masked_fill(self.both(x).mask, 0.0)",
    "an item of a list": "return x if self.name(x)[0] == 'torch.float32' else x + 1",
    "each item": "for mask in [x < 0, (x < 0) & True]:\n            x = x.masked_fill(mask, 0.0)\n        return x",
    "an appended item": "masks: List[torch.Tensor] = []\n        masks.append((x < 0) & True)\n"
    "        return x.masked_fill(masks[0], 0.0)",
    "a value of a dict": "held: Dict[str, torch.Tensor] = {}\n        held['a'] = (x < 0) & True\n"
    "        return x.masked_fill(held['a'], 0.0)",
    "a buffer": "self.kept = (x < 0) & True\n        return x.masked_fill(self.kept, 0.0)",
    "a Tensor of floats for an int": "return scaled(x, x.exp().sum())",
    "a mean for an int": "n = x.mean()\n        return scaled(x, n)",
}
RIGHT = {
    "the other item of a tuple": "_, rest = self.two(x)\n        return rest + 1",
    "the other field": "return self.both(x).rest + 1",
    "a number in arithmetic": "return x * self.count",
    "a mask in arithmetic": "return x * self.mask(x)",
    "a Tensor of ints for an int": "return scaled(x, x.argmax())",
    "a count for an int": "return scaled(x, (x > 0).sum())",
}


def _written(tmp_path: Path, body: str) -> Path:
    path = tmp_path / "model.py"
    path.write_text(HEAD.replace("{body}", body), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", [*WRONG, *RIGHT])
def test_the_judge_tells_what_shows(tmp_path: Path, name: str) -> None:
    path = _written(tmp_path, {**WRONG, **RIGHT}[name])
    found = judge(Program(Project((tmp_path,))), find_target(Project((tmp_path,)).module(path), "Net"))
    assert found.script == ("broken" if name in WRONG else "ok")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [*WRONG, *RIGHT])
def test_compiled_code_shows_it(tmp_path: Path, name: str) -> None:
    path = _written(tmp_path, {**WRONG, **RIGHT}[name])
    spec = importlib.util.spec_from_file_location("model", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    example = torch.tensor([[0.5, -0.25, 1.5, 0.0], [1.0, -1.0, 2.0, 0.5]])
    eager, compiled = module.Net(), torch.jit.script(module.Net())
    try:
        is_right = torch.equal(compiled(example), eager(example))
    except RuntimeError:
        is_right = False
    assert is_right == (name in RIGHT)
