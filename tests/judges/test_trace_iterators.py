"""Iterators give their items once; keys, bounds and flags are as much held as the numbers that they are."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.judges.test_trace_consequences import is_traced_right, verdict

TAKEN = "n = int(x.sum())\n    "
WRONG = {
    "a key": TAKEN + "for key in {n: 1, -3: 2}:\n        x = x + key",
    "a key beside its value": TAKEN + "for key, value in {n: 2}.items():\n        x = x + key * value",
    "the greatest key": TAKEN + "x = x + max({n: 1, -3: 2})",
    "a key that is taken out": TAKEN + "x = x + {n: 1}.popitem()[0]",
    "the start of a slice": TAKEN + "x = x + slice(n, None).start",
    "what comes again": "rows = map(int, [1])\n    first = list(rows)\n"
    "    if not list(rows):\n        x = x + int(x.sum())",
    "a flag of tracing": "x = x * int(isinstance(x.shape[0], int)) * x.shape[0]",
    "all pieces but the first": "first, *rest = x.split(1)\n    x = first + sum(rest)",
    "the size of a sparse tensor": "edges = torch.zeros(2, 1, dtype=torch.long)\n"
    "    x = x + torch.sparse_coo_tensor(edges, torch.ones(1), (x.shape[0], 4)).to_dense()",
    "as many rows as items beside them": "items = [row * k for k, row in zip((1, 2, 3, 4, 5, 6), x.t().t())]\n"
    "    rows = torch.stack(items)\n    assert rows.shape == x.shape\n    x = rows",
    "a bool added to a size": "x = x * (x.shape[0] + True)",
    "a bool taken from a size": "x = x * (x.shape[0] - True)",
}
RIGHT = {
    "what comes no more": "rows = zip([x], [1])\n    first = list(rows)\n"
    "    for row in rows:\n        x = x + int(x.sum())",
    "what a loop has taken": "rows = iter([x, x])\n    for row in rows:\n        pass\n"
    "    for row in rows:\n        x = x + int(x.sum())",
    "a generator": "rows = (row for row in [x])\n    first = list(rows)\n"
    "    for row in rows:\n        x = x + int(x.sum())",
    "a size as a key": "for key in {x.shape[0]: 1}:\n        x = x + key",
    "a size divided by a bool": "x = x * (x.shape[0] // True)",
}
CASES = {**WRONG, **RIGHT}


def _source(name: str) -> str:
    return f"def f(x: torch.Tensor):\n    {CASES[name]}\n    return x"


@pytest.mark.parametrize("name", CASES)
def test_the_judge_tells_what_is_held(tmp_path: Path, name: str) -> None:
    assert verdict(tmp_path, _source(name)) == ("hazardous" if name in WRONG else "safe")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_a_trace_holds_it(tmp_path: Path, name: str) -> None:
    is_right = is_traced_right(tmp_path, _source(name), torch.ones(4, 4), torch.ones(6, 4))
    assert is_right == (name in RIGHT)
