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
]


def judged(tmp_path: Path, body: str) -> tuple[torch.nn.Module, str]:
    path = tmp_path / "net.py"
    path.write_text(FILE.format(body=body))
    project = Project((tmp_path,))
    outcome = judge_script(Program(project, "2.13"), find_target(project.module(path), "Net"))
    return runpy.run_path(str(path))["Net"](), outcome.verdict


@pytest.mark.parametrize("body", [*UNROLLED, *CALLS])
def test_what_torch_refuses_is_blocked(tmp_path: Path, body: str) -> None:
    net, verdict = judged(tmp_path, body)

    with pytest.raises(RuntimeError, match=r"\S"):
        torch.jit.script(net)
    assert verdict == "blocked"


@pytest.mark.parametrize("body", TAKEN)
def test_what_torch_takes_is_not_blocked(tmp_path: Path, body: str) -> None:
    net, verdict = judged(tmp_path, body)

    torch.jit.script(net)
    assert verdict != "blocked"
