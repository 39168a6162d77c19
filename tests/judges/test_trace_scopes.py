"""Modules that an ``autograd.Function`` calls: what one computes, no code outside of it finds while tracing."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.judges.test_trace_consequences import verdict

SOURCE = """
class Run(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        {body}

    @staticmethod
    def backward(ctx, given):
        return given, None


class Op(nn.Module):
    def forward(self, x):
        return x + 1


class Inner(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)


class After(Inner):
    def forward(self, x):
        return self.layer(x) + 1


class Pair(Inner):
    def forward(self, x):
        return self.layer(x), x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([{layers}])

    def forward(self, x):
        return Run.apply(x * 2, {given})
"""
ONE_BY_ONE = "for layer in k:\n            x = layer(x)\n        return x"
REFUSED = {
    "one after the other": (ONE_BY_ONE, "Op(), Op()"),
    "layers of torch": (ONE_BY_ONE, "nn.ReLU(), nn.Tanh()"),
    "one twice": ("return k[0](k[0](x))", "Op()"),
    "a sequence": ("return k[0](x)", "nn.Sequential(Op(), Op())"),
    "the function goes on": ("return k[0](x) * 2", "Op()"),
    "the function goes on with both": ("return x + k[0](x)", "Op()"),
    "side by side": ("return k[0](x) + k[1](x)", "Op(), Op()"),
    "a module goes on": ("return k[0](x)", "After(Op())"),
    "a module in a module": ("return k[0](x) - 1", "Inner(Inner(Op()))"),
    "what is one of two": ("return k[0](x)[0] * 2", "Pair(Op())"),
}
TRACED = {
    "one module": ("return k[0](x)", "Op()"),
    "before a module": ("return k[0](x * 2)", "Op()"),
    "what computes nothing": (ONE_BY_ONE + " * 2", "nn.Identity(), Inner(nn.Identity())"),
    "what computes nothing afterwards": (ONE_BY_ONE, "Op(), nn.Identity(), Inner(nn.Identity())"),
    "what computes nothing before": (ONE_BY_ONE, "nn.Identity(), Inner(nn.Identity()), Op()"),
    "a module that is handed on": ("return k[0](x)", "Inner(Inner(Op()))"),
    "a module that goes on after nothing": ("return k[0](x)", "After(Inner(nn.Identity()))"),
    "side by side, one of them": ("return (k[0](x), k[1](x))[0]", "Op(), Op()"),
    "what is one of two that was given": ("return k[0](x)[1] * 2", "Pair(nn.Identity())"),
}
CASES = {**REFUSED, **TRACED}


def _source(name: str, given: str = "self.layers") -> str:
    body, layers = CASES[name]
    return SOURCE.format(body=body, layers=layers, given=given)


@pytest.mark.parametrize("name", CASES)
def test_the_judge_tells_what_the_tracer_does_not_find(tmp_path: Path, name: str) -> None:
    assert verdict(tmp_path, _source(name)) == ("hazardous" if name in REFUSED else "safe")


@pytest.mark.parametrize("name", CASES)
def test_torch_agrees(name: str) -> None:
    scope: dict[str, Any] = {"torch": torch, "nn": torch.nn}
    exec(textwrap.dedent(_source(name)), scope)
    if name in REFUSED:
        with pytest.raises(RuntimeError, match="unordered_map::at"):
            torch.jit.trace(scope["Net"](), (torch.randn(3, 4),))
    else:
        traced = torch.jit.trace(scope["Net"](), (torch.randn(3, 4),))
        x = torch.randn(5, 4)
        assert torch.equal(traced(x), scope["Net"]()(x))


def test_layers_that_are_made_in_passing_have_no_scope(tmp_path: Path) -> None:
    source = _source("one after the other", given="[nn.ReLU(), nn.Tanh()]")
    assert verdict(tmp_path, source) == "safe"
    scope: dict[str, Any] = {"torch": torch, "nn": torch.nn}
    exec(source, scope)
    assert torch.jit.trace(scope["Net"](), (torch.randn(3, 4),)) is not None
