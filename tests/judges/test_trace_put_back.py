"""What a forward assigns to parts of its module: layers read it, what is put back is no state, what is kept is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.judges.test_trace_consequences import is_traced_right, verdict
from tests.rules.on_torch import load
from tsguard.analysis.python import Program
from tsguard.judges.judgement import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

NET = """\
import torch
from torch import nn

KEPT = {{}}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.attention = nn.MultiheadAttention(4, 1)
        self.slope = nn.LeakyReLU(-0.5)
        self.norm = nn.LayerNorm(4)
        self.register_buffer("level", torch.ones(()))
        self.count = 1
        self.kept = {{}}

    def forward(self, x):
        {forward}
"""
HELD = {
    "a weight made of itself": "self.layer.weight = nn.Parameter(self.layer.weight * 2); return self.layer(x)",
    "a weight set by name": (
        "setattr(self.layer, 'weight', nn.Parameter(self.layer.weight * 2)); return self.layer(x)"
    ),
    "a weight where the layer registers it": (
        "self.layer._parameters['weight'] = self.layer.weight * 2; return self.layer(x)"
    ),
    "a weight after its layer": (
        "y = self.layer(x); self.layer.weight = nn.Parameter(self.layer.weight * 2); return y"
    ),
    "a buffer registered anew": "self.register_buffer('level', self.level + 1); return x * self.level",
    "a buffer where it is registered": "self._buffers['level'] = self.level + 1; return x * self.level",
    "a parameter registered anew": (
        "self.layer.register_parameter('bias', nn.Parameter(self.layer.bias * 2 + 1)); return self.layer(x)"
    ),
    "a buffer that stays": "old = self.level; self.level = old + x.mean(); return x * self.level",
    "a weight put back after its data were changed": (
        "w = self.layer.weight; w.data = w.data * 2; y = self.layer(x); self.layer.weight = w; return y"
    ),
    "a weight of a part of a layer": (
        "out = self.attention.out_proj; out.weight = nn.Parameter(out.weight * 2)\n"
        "        return self.attention(x, x, x)[0]"
    ),
    "what a layer was given": "self.slope.negative_slope *= 2; return self.slope(-x)",
    "what a layer was not given": "self.norm.eps += 1; return self.norm(x * torch.arange(4))",
    "what a layer was given, after it": "y = self.slope(-x); self.slope.negative_slope = 3.0; return y",
    "random numbers kept by size": (
        "n = x.shape[0]\n        if n not in self.kept:\n            self.kept[n] = torch.rand(n, 1)\n"
        "        return self.kept[n] + x"
    ),
    "values kept by size in a dict of the file": (
        "n = x.shape[0]\n        if n not in KEPT:\n            KEPT[n] = x\n        return KEPT[n] + x"
    ),
    "data of its own data by a name": (
        "old = self.layer.weight.data; self.layer.weight.data = old * 2; return self.layer(x)"
    ),
    "values kept by size": (
        "n = x.shape[0]\n        if n in self.kept:\n            return self.kept[n] + x\n"
        "        self.kept[n] = x\n        return x"
    ),
    "values kept by size, asked for": (
        "n = x.shape[0]\n        if n not in self.kept:\n            self.kept[n] = x\n        return self.kept[n] + x"
    ),
}
NOT_HELD = {
    "what a layer is given alike each time": "self.slope.negative_slope = 3.0; return self.slope(-x)",
    "what a layer does not ask for": "self.slope.uses = x.mean(); return self.slope(-x)",
    "a weight put back": (
        "old = self.layer.weight; self.layer.weight = nn.Parameter(old * 2)\n"
        "        y = self.layer(x); self.layer.weight = old; return y"
    ),
    "a weight put back at last": (
        "old = self.layer.weight; self.layer.weight = nn.Parameter(old * 2)\n        try:\n"
        "            return self.layer(x)\n        finally:\n            self.layer.weight = old"
    ),
    "a buffer put back": (
        "old = self.level; self.level = old + x.mean(); y = x * self.level; self.level = old; return y"
    ),
    "a number put back": "n = self.count; self.count = n + 1; y = x * self.count; self.count = n; return y",
    "a buffer made of the input": "self.register_buffer('level', x.mean()); return x * self.level",
    "a buffer read where it is registered": "return x * self._buffers['level'] + self.layer._parameters['bias']",
    "a table of sizes kept by size": (
        "n = x.shape[0]\n        if n not in self.kept:\n            self.kept[n] = torch.arange(n).float()\n"
        "        return self.kept[n][:, None] + x"
    ),
    "values kept by size and taken at once": "n = x.shape[0]; self.kept[n] = x; return self.kept[n] + x",
}


def net(tmp_path: Path) -> Any:
    torch.manual_seed(0)
    return load(str(tmp_path / "model.py")).Net()


@pytest.mark.parametrize("forward", [*HELD.values(), *NOT_HELD.values()], ids=[*HELD, *NOT_HELD])
def test_the_judge_tells_what_a_call_leaves_for_the_next(tmp_path: Path, forward: str) -> None:
    is_held = forward in HELD.values()
    assert verdict(tmp_path, NET.format(forward=forward)) == ("hazardous" if is_held else "safe")

    calls = [torch.full((2, 4), float(value)) for value in (1, 2, 3, 3)]
    traced = torch.jit.trace(net(tmp_path), (calls[0],), check_trace=False)
    eager = net(tmp_path)
    eager(calls[0])
    assert all(torch.allclose(traced(x), eager(x)) for x in calls[1:]) is not is_held


@pytest.mark.parametrize(
    ("taken", "expected"),
    [
        ("x[:, 5]", "hazardous"),
        ("x[..., x.shape[1] - 1]", "hazardous"),
        ("x[:, :5]", "safe"),
        ("rows[1]", "safe"),
    ],
)
def test_an_index_beyond_a_dimension_takes_another_way(tmp_path: Path, taken: str, expected: str) -> None:
    source = f"def f(x):\n    rows = [x, x * 2]\n    try:\n        return {taken}\n    except IndexError:\n        return x[:, 0]"
    assert verdict(tmp_path, source) == expected
    if taken == "x[:, 5]":
        assert not is_traced_right(tmp_path, source, torch.ones(2, 3), torch.arange(18.0).view(2, 9))


@pytest.mark.parametrize(("result", "codes"), [("x * 2", []), ("x * self.table", ["TSG239"])])
def test_a_table_that_nothing_reads_is_in_no_graph(tmp_path: Path, result: str, codes: list[str]) -> None:
    forward = (
        f"if self.table is None:\n            self.table = torch.hann_window(4)\n        return {result}"
    )
    path = tmp_path / "model.py"
    path.write_text(
        NET.format(forward=forward).replace("self.count = 1", "self.table = None"), encoding="utf-8"
    )
    project = Project((tmp_path,))
    found = judge(Program(project), find_target(project.module(path), "Net"))
    assert (found.trace, [event.code for event in found.findings if event.code == "TSG239"]) == (
        "safe",
        codes,
    )

    try:
        torch.jit.trace(net(tmp_path), (torch.ones(2, 4),))
    except torch.jit.TracingCheckError:
        assert codes
    else:
        assert not codes


@pytest.mark.parametrize(
    "written",
    [
        "self.layer.reset_parameters()",
        "self.layer.load_state_dict({'weight': torch.ones(4, 4), 'bias': torch.zeros(4)})",
    ],
)
def test_what_writes_the_parameters_anew_does_so_without_gradients_in_eager_only(
    tmp_path: Path, written: str
) -> None:
    assert verdict(tmp_path, NET.format(forward=f"{written}; return self.layer(x)")) == "hazardous"
    traced = torch.jit.trace(net(tmp_path), (torch.ones(2, 4),), check_trace=False)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        traced(torch.ones(2, 4))
