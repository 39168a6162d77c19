"""What is written into a tensor, and where: a trace holds the numbers of the example, and follows sizes and tensors."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.judges.test_trace_consequences import is_traced_right, verdict

HELD = {
    "rows up to a number": "x[: int(x.sum())] = 7",
    "a row at a number": "x[int(x.sum())] = 7",
    "an element at a number": "x[0, int(x.sum())] = 7",
    "a number": "x[0] = float(x.sum())",
    "a number in Python of rows": "x[0] = len(x)",
    "what a part of a result decides": "if x.max(-1).values.sum() > 1:\n        x = x * 2",
    "what a part by name decides": "found = x.sort(-1)\n    if found.indices[0, 0] > 0:\n        x = x * 2",
}
FOLLOWED = {
    "rows up to a tensor": "x[: x.sum().long()] = 7",
    "a row at a tensor": "x[x.sum().long()] = 7",
    "rows up to a size": "x[: x.shape[0] // 2] = 7",
    "a row at a size": "x[x.shape[0] - 1] = 7",
    "a size": "x[0] = x.shape[0]",
    "a part of a result": "x = x.topk(2).values + torch.linalg.qr(x).Q[:, :2]",
}
CASES = {**HELD, **FOLLOWED}


def _source(name: str) -> str:
    return f"def f(x: torch.Tensor):\n    x = x.clone()\n    {CASES[name]}\n    return x"


@pytest.mark.parametrize("name", CASES)
def test_the_judge_tells_what_is_held(tmp_path: Path, name: str) -> None:
    assert verdict(tmp_path, _source(name)) == ("hazardous" if name in HELD else "safe")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_a_trace_holds_it(tmp_path: Path, name: str) -> None:
    first, other = torch.zeros(4, 4), torch.zeros(6, 4)
    first[0, 0] = other[0, 1] = other[1, 2] = 1
    assert is_traced_right(tmp_path, _source(name), first, other) == (name in FOLLOWED)
