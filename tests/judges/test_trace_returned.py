"""What a forward returns: pieces of which torch.jit.trace counts as many as the example has, and objects that it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.judges.test_trace_consequences import is_traced_right, verdict
from tests.rules.on_torch import load

HAZARDS = {
    "pieces of a size": "x.split(1)",
    "rows": "x.unbind()",
    "pieces beside others": "(x.split(1), x)",
    "pieces by their number, of a small tensor": "x.chunk(2)",
    "a range": "(range(3), x)",
    "a slice": "(slice(0, 1), x)",
    "an iterator": "iter([x])",
    "a generator": "(x for _ in range(2))",
    "a map": "map(torch.relu, [x])",
    "pairs": "zip([x], [x])",
    "a generator of random numbers": "torch.Generator()",
    "one of many": "(x, torch.Generator())",
}
RIGHT = {
    "pieces of given sizes": "x.split([1, 3], 1)",
    "pieces of a dimension of known size": "(x @ torch.ones(4, 6)).split(3, -1)",
    "what a generator makes": "tuple(x * i for i in range(2))",
    "what a map makes": "tuple(map(torch.relu, [x, x * 2]))",
}


@pytest.mark.parametrize("returned", [*HAZARDS.values(), *RIGHT.values()], ids=[*HAZARDS, *RIGHT])
def test_what_is_returned_is_traced_or_not(tmp_path: Path, returned: str) -> None:
    source = f"def f(x):\n    return {returned}"
    is_right = returned in RIGHT.values()
    assert verdict(tmp_path, source) == ("safe" if is_right else "hazardous")
    if is_right:  # held against eager as one tensor
        summed = f"{source}\n\n\nof = f\n\n\ndef f(x):\n    return sum(part.sum() for part in of(x))"
        assert is_traced_right(tmp_path, summed, torch.ones(2, 4), torch.full((3, 4), 2.0))
    else:
        assert not is_traced_right(tmp_path, source, torch.ones(2, 4), torch.full((1, 4), 2.0))


NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, sizes{annotation}):
        super().__init__()
        self.sizes = sizes
        self.layer = nn.Conv1d(3, 6, 1)

    def forward(self, x):
        return {tensor}.split(self.sizes, dim=1)
"""


@pytest.mark.parametrize(
    ("annotation", "tensor", "expected"),
    [
        (": list[int]", "x", "safe"),
        (": tuple[int, ...]", "x", "safe"),
        (": int", "self.layer(x)", "safe"),
        ("", "self.layer(x)", "safe"),
        (": int", "x", "hazardous"),
    ],
)
def test_sizes_that_a_constructor_is_given(
    tmp_path: Path, annotation: str, tensor: str, expected: str
) -> None:
    assert verdict(tmp_path, NET.format(annotation=annotation, tensor=tensor)) == expected

    sizes: Any = (1, 2) if "[" in annotation else 2
    module = load(str(tmp_path / "model.py"))
    traced = torch.jit.trace(module.Net(sizes), torch.ones(2, 3, 4), check_trace=False)
    if expected == "safe":
        assert len(traced(torch.ones(4, 3, 5))) == len(module.Net(sizes)(torch.ones(4, 3, 5)))
