"""``tensor[key] = value``: a trace stretches a value of another shape by the sizes of the example, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.judges.test_trace_consequences import eager_and_traced, verdict

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("row", torch.tensor([1.0, 2.0]))

    def forward(self, x):
        n, m = x.shape
        y = torch.zeros(n, m)
        {body}
        return y
"""
STRETCHED = {
    "a row to all rows": "y[:, :2] = self.row",
    "a row of the input": "y[:] = x[0]",
    "one column to several": "y[:, :2] = x[:, :1]",
    "a row with a dimension before it": "y[0] = x[:1]",
    "a key with an ellipsis": "y[..., :2] = self.row",
    "a key with None": "y[None] = x[0]",
    "a row to the rows at a size": "z = torch.zeros(9, n, m)\n        z[n] = x[0]\n        y = y + z.sum(0)",
    "a row to the rows that a tensor of one number takes": (
        "z = torch.zeros(9, n, m)\n        z[x.argmin()] = x[0]\n        y = y + z.sum(0)"
    ),
    "a first dimension of size 1 before what a tensor takes": "y[torch.arange(2)] = x[:1]",
    "a first dimension of size 1 before what a list takes": "y[[0, 1]] = x[0][None]",
    "a first dimension of size 1 before what a mask takes": "y[x[:, 0] > -1] = x[:1]",
    "a first dimension that is 1 since the whole has one": (
        "z = torch.zeros(1, 9, m)\n        z[:, torch.arange(n)] = x[None]\n        y = y + z.sum()"
    ),
}
OF_ONE_SHAPE = {
    "the same shape": "y[:, 1:] = x[:, 1:]",
    "a row to a row": "y[0] = x[1]",
    "a number": "y[:, 1:] = 2.0",
    "a tensor without dimensions": "y[:, 1:] = x[0, 0]",
    "a size": "y[:, 1:] = n",
    "a mask": "y[x > 1] = x.mean()",
    "rows by a tensor": "y[torch.arange(2)] = x[0]",
    "columns by a list": "y[:, [0, 1]] = self.row",
    "what is made of the part itself": "y[:, :2] += self.row",
    "what is stretched before": "y[:, :2] = self.row.expand_as(y[:, :2])",
    "a row at a size": "z = torch.zeros(9, m)\n        z[n] = x[0]\n        y = y + z.sum(0)",
    "a row at a tensor of one number": "z = torch.zeros(9, m)\n        z[x.argmin()] = x[0]\n        y = y + z.sum(0)",
    "a first dimension of size 1 of both": (
        "z = torch.zeros(1, 9, m)\n        z[:, x.argmin()] = x[:1]\n        y = y + z.sum(1)"
    ),
    "a first dimension of size 1 before what is the same": "y[torch.arange(2), :2] = self.row[None]",
    "what a tensor takes without a first dimension of size 1": (
        "z = torch.zeros(1, 9, m)\n        z[:, torch.arange(n)] = x\n        y = y + z.sum()"
    ),
    "a part that is the same for every input": "z = torch.zeros(3, 2)\n        z[:] = self.row\n        y = y + z.sum()",
}
CASES = {**{f"keeps {name}": body for name, body in STRETCHED.items()}, **OF_ONE_SHAPE}


@pytest.mark.parametrize("case", CASES)
def test_the_judge_tells_what_is_stretched(tmp_path: Path, case: str) -> None:
    expected = "hazardous" if case.startswith("keeps ") else "safe"
    assert verdict(tmp_path, NET.format(body=CASES[case])) == expected


@pytest.mark.parametrize("case", CASES)
def test_a_trace_keeps_the_sizes(tmp_path: Path, case: str) -> None:
    net, traced = eager_and_traced(
        tmp_path, NET.format(body=CASES[case]), torch.arange(12.0).reshape(3, 4) / 8
    )

    def is_alike(rows: int, columns: int) -> bool:
        x = torch.arange(float(rows * columns)).reshape(rows, columns) / 5
        try:
            return torch.equal(traced(x), net(x))
        except RuntimeError:
            return False

    assert all(is_alike(*size) for size in ((3, 4), (5, 4), (3, 6))) == (not case.startswith("keeps "))


CACHE = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, rows):
        super().__init__()
        self.keys = nn.Linear(4, 4)
        self.register_buffer("cache", torch.zeros(rows, 8, 4))

    def forward(self, x):
        self.cache[:, torch.arange(x.shape[1])] = self.keys(x)
        return self.cache.sum(1)
"""


@pytest.mark.parametrize(("rows", "expected"), [(1, "hazardous"), (2, "safe")])
def test_a_cache_for_one_row_views_what_it_is_given(tmp_path: Path, rows: int, expected: str) -> None:
    source = CACHE.replace("self, rows", f"self, rows={rows}").replace("zeros(rows", f"zeros({rows}")
    assert verdict(tmp_path, source) == expected
    net, traced = eager_and_traced(tmp_path, source, torch.ones(rows, 2, 4))
    longer = torch.ones(rows, 3, 4)
    if expected == "safe":
        assert torch.equal(traced(longer), net(longer))
    else:
        with pytest.raises(RuntimeError, match="is invalid for input of size"):
            traced(longer)


def test_what_a_layer_takes_alone_is_no_size_of_the_example(tmp_path: Path) -> None:
    body = "z = torch.zeros(2, m)\n        z[:] = x[0]\n        y = nn.functional.linear(z, torch.ones(3, 4))"
    net, traced = eager_and_traced(tmp_path, NET.format(body=body), torch.ones(3, 4))
    assert torch.equal(traced(torch.arange(20.0).reshape(5, 4)), net(torch.arange(20.0).reshape(5, 4)))
    assert verdict(tmp_path, NET.format(body=body)) == "safe"


UNCOUNTED = {
    "keeps a row to all rows": "y[:] = x[0]",
    "keeps a mean over rows": "y[...] = x.mean(0)",
    "keeps what has sizes of its own": "y[:, :, 0] = self.row",
    "a part to a part": "y[:, 1:] = x[:, 1:]",
    "a row to a row": "y[0] = x[1]",
    "a column to a column": "y[..., 0] = x[..., 1]",
    "an element to a row": "y[0] = x[1, 0, 0]",
    "a mean to a column": "y[:, 0] = x.mean(1)",
    "another tensor": "y[:] = x.abs()",
}


@pytest.mark.parametrize("case", UNCOUNTED)
def test_of_tensors_whose_dimensions_nobody_counts_one_may_have_fewer(tmp_path: Path, case: str) -> None:
    source = NET.replace("n, m = x.shape", "").replace("torch.zeros(n, m)", "torch.zeros_like(x)")
    source = source.format(body=UNCOUNTED[case])
    expected = "hazardous" if case.startswith("keeps ") else "safe"
    assert verdict(tmp_path, source) == expected
    net, traced = eager_and_traced(tmp_path, source, torch.arange(8.0).reshape(2, 2, 2))
    other = torch.arange(12.0).reshape(3, 2, 2)
    try:
        is_alike = torch.equal(traced(other), net(other))
    except RuntimeError:
        is_alike = False
    assert is_alike == (expected == "safe")
