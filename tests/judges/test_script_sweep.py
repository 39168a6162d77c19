"""What random programs showed: torch.jit.script is asked of each value, given by arguments of many types."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
import torch

from tsguard.analysis.python import Program
from tsguard.judges.script import judge_script
from tsguard.project import Project
from tsguard.project.targets import find_target

MODULE = """\
from typing import Dict, List, Optional, Tuple

import torch
from torch import Tensor, nn


class Plain:
    pass


class Net(nn.Module):
    {declared}

    def __init__(self):
        super().__init__()
        self.part = nn.Linear(4, 4)
        self.held = {held}

    @torch.jit.ignore
    def left{signature}:
        return x

    def forward(self, x: Tensor) -> Tensor:
        {body}
        return x
"""
FILE = """\
import math
from typing import Dict, List, Optional, Tuple, Union

import torch
from torch import Tensor, nn


class Net(nn.Module):
    def forward(self, x: Tensor, n: int, f: float, o: Optional[int], xs: List[Tensor], p: Tuple[int, float]):
        {body}
"""
UNROLLED = [
    "return [i for i in p]",
    "return [(i, n) for i in p]",
    "return [i * 2 for i in (f, n)]",
    "return [i for i in (n, o)]",
    "return list(zip((f, n), (n, n)))",
    "return list(enumerate(p))",
    "return {str(i): i for i in p}",
    "return {str(i): i for i in (o, n)}",
    "return {k: v for k, v in zip(('a', 'b'), p)}",
    "return dict(zip(('a', 'b'), p))",
]
CALLS = [
    "return x.float(memory_format=torch.channels_last)",
    "return x.int(n)",
    "return [i for i, _ in enumerate(xs, f)]",
    "return [i for i, _ in enumerate(xs, start=o)]",
    "return '{} {a}'.format(n, a=1)",
    "raise ValueError('{a}'.format(a=n))",
    "raise SystemExit",
    "raise KeyboardInterrupt()",
    "raise BaseException('x')",
]
TAKEN = [
    "return [i for i in (o, n)]",
    "return [str(i) for i in p]",
    "return [x * i for i in p]",
    "return [i for i in [n, f]]",
    "y: List[Union[int, float]] = [i for i in p]\n        return y",
    "return {str(i): i for i in (n, o)}",
    "y: Dict[str, Union[int, float]] = {str(i): i for i in p}\n        return y",
    "return dict(zip(('a', 'b'), (n, n)))",
    "return [i for i, _ in enumerate(xs, start=n)]",
    "return '{} {}'.format(n, *p)",
    "return x.float()",
    "raise StopIteration",
    "raise UserWarning('x')",
]


MODULES_REFUSED = [
    {"declared": "held: int", "held": "[]"},
    {"declared": "held: float", "held": "torch.float"},
    {"declared": "held: Tuple[int, int]", "held": "(1, 1.5)"},
    {"declared": "held: Tuple[int, int]", "held": "(1,)"},
    {"declared": "held: List[int]", "held": "[1, 1.5]"},
    {"declared": "held: int", "held": "nn.Parameter(torch.ones(2))"},
    {"declared": "__constants__ = ['held']", "held": "(nn.ReLU(),)"},
    {"held": "Plain()", "body": "x = x + self.held.missing"},
    {"held": "Plain()", "body": "x = x + len(self.held)"},
    {"signature": "(self, x: Tensor, *args)", "body": "x = self.left(x)"},
    {"signature": "(self, x, **kwargs) -> Tensor", "body": "x = self.left(x)"},
    {"signature": "(self, x, *args, **kwargs)", "body": "x = self.left(x, k=x)"},
    {"signature": "(self, *args, x=None, **kwargs)", "body": "x = self.left(k=x)"},
    {"body": "x = x * 2 if isinstance(self.part, dict) else x"},
    {"held": "torch.compile(nn.Linear(4, 4))"},
    {"held": "nn.ModuleList([torch.compile(nn.Linear(4, 4))])"},
]
MODULES_TAKEN = [
    {"declared": "held: List[float]", "held": "(1, 2)"},
    {"declared": "held: List[bool]", "held": "[1, 0]"},
    {"declared": "held: List[int]", "held": "range(3)"},
    {"declared": "held: bool", "held": "None"},
    {"declared": "held: Dict[str, Tensor]", "held": "{'a': None}"},
    {"declared": "held: Optional[List[int]]", "held": "(1, 2)"},
    {"signature": "(self, x, *args)", "body": "x = self.left(x)"},
    {"body": "x = x * 2 if isinstance(self.part, (int, list)) else x"},
    {"body": "x = x * 2 if isinstance(self.part, Tensor) else x"},
]


def module(parts: dict[str, str]) -> str:
    plain = {"declared": "scale = 2", "held": "1", "signature": "(self, x)", "body": "x = x + 1"}
    return MODULE.format(**{**plain, **parts})


def judged(tmp_path: Path, given: str | dict[str, str]) -> tuple[torch.nn.Module, str]:
    path = tmp_path / "net.py"
    path.write_text(FILE.format(body=given) if isinstance(given, str) else module(given))
    project = Project((tmp_path,))
    outcome = judge_script(Program(project, "2.13"), find_target(project.module(path), "Net"))
    return runpy.run_path(str(path))["Net"](), outcome.verdict


@pytest.mark.parametrize("given", [*UNROLLED, *CALLS, *MODULES_REFUSED], ids=str)
def test_what_torch_refuses_is_blocked(tmp_path: Path, given: str | dict[str, str]) -> None:
    net, verdict = judged(tmp_path, given)

    with pytest.raises((RuntimeError, TypeError, ValueError), match=r"\S"):
        torch.jit.script(net)
    assert verdict == "blocked"


@pytest.mark.parametrize("given", [*TAKEN, *MODULES_TAKEN], ids=str)
def test_what_torch_takes_is_not_blocked(tmp_path: Path, given: str | dict[str, str]) -> None:
    net, verdict = judged(tmp_path, given)

    torch.jit.script(net)
    assert verdict != "blocked"
