"""What torch.jit.script has compiled takes numbers as they are for the example: a trace keeps them."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.judges.test_trace_consequences import eager_and_traced, verdict

NET = """\
from typing import Dict, List, Optional

import torch
from torch import Tensor, nn


@torch.jit.script
def scaled(x: Tensor, n: int) -> Tensor:
    return x * n


@torch.jit.script
def shaped(x: Tensor, sizes: List[int]) -> Tensor:
    return x * sizes[0] + sizes[1]


@torch.jit.script
def rooted(x: Tensor, root: float) -> Tensor:
    return x / root


@torch.jit.script
def one_more(n: int) -> int:
    return n + 1


@torch.jit.script
def rows(x: Tensor):
    return x.size(0)


@torch.jit.script
def sizes_of(x: Tensor) -> List[int]:
    return x.size()


@torch.jit.script
def with_rows(x: Tensor):
    return x, x.size(0)


@torch.jit.script
def printed(x: Tensor) -> None:
    print(x.dim())


@torch.jit.script
def perhaps(x: Tensor) -> Optional[Tensor]:
    return x * 2


@torch.jit.script
def both(x: Tensor):
    return x, x * 2


@torch.jit.script
def named(x: Tensor) -> Dict[str, Tensor]:
    return {{"x": x * 2}}


@torch.jit.script
def times(x: Tensor, n: Tensor) -> Tensor:
    return x * n


@torch.jit.script_if_tracing
def counted(x: Tensor) -> Tensor:
    for _ in range(x.size(0)):
        x = x + 1
    return x


@torch.jit.script_if_tracing
def repeated(x: Tensor, n: int) -> Tensor:
    for _ in range(n):
        x = x + 1
    return x


@torch.jit.script_if_tracing
def first(x, n):
    return x[:, :n]


class Scaled(nn.Module):
    def forward(self, x: Tensor, n: int) -> Tensor:
        return x * n


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)
        self.scaled = torch.jit.script(Scaled())

    def forward(self, x):
        {body}
"""
KEPT = {
    "a size": "return scaled(x, x.size(0))",
    "a length": "return scaled(x, len(x))",
    "a count": "return scaled(x, x.numel())",
    "all sizes": "return shaped(x, x.shape)",
    "a list of sizes": "return shaped(x, [x.size(0), 1])",
    "reckoned of a size": "return rooted(x, x.size(0) ** 0.5)",
    "to a scripted module": "return self.scaled(x, x.size(0))",
    "compiled once it is traced": "return repeated(x, x.size(0))",
    "for a number": "return x * one_more(x.size(0))",
    "that returns a size": "return x * rows(x)",
    "that returns sizes": "return x * sizes_of(x)[0]",
    "that returns a size beside a tensor": "return with_rows(x)[0]",
    "that returns a number of a number": "return x * one_more(3)",
    "that returns nothing": "printed(x); return x * 2",
    "that returns an optional tensor": "return perhaps(x) + 1",
}
ASKED_ANEW = {
    "by what is compiled": "return counted(x)",
    "a size of a layer": "y = self.linear(x); return scaled(y, y.size(-1))",
    "a number": "return scaled(x, 3)",
    "several tensors": "a, b = both(x); return a + b",
    "tensors by name": "return named(x)['x'] + 1",
    "an optional tensor that is passed on": "return perhaps(x)",
    "a size for a parameter without an annotation": "return first(x, x.size(0))",
    "a size by the name of such a parameter": "return first(x, n=x.size(0) // 2)",
    "a size as a tensor": "return times(x, torch.tensor(x.size(0)))",
}
CASES = {**KEPT, **ASKED_ANEW}


@pytest.mark.parametrize("case", CASES)
def test_the_judge_tells_what_compiled_code_is_given(tmp_path: Path, case: str) -> None:
    expected = "hazardous" if case in KEPT else "safe"
    assert verdict(tmp_path, NET.format(body=CASES[case])) == expected


@pytest.mark.parametrize("case", CASES)
def test_a_trace_keeps_it(tmp_path: Path, case: str) -> None:
    try:
        net, traced = eager_and_traced(tmp_path, NET.format(body=CASES[case]), torch.ones(2, 3))
    except RuntimeError:
        assert case in KEPT
        return
    other = torch.ones(5, 3)
    assert torch.allclose(traced(other), net(other)) == (case in ASKED_ANEW)
