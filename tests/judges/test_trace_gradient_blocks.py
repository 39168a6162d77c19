"""Blocks without gradients in what is traced: what is told of them, held against the gradients of torch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import tsguard
from tests.rules.on_torch import load

SOURCE = """
import torch
from torch import nn


@torch.no_grad()
def scaled(x):
    return x.abs() + 1


def scaled_within(x):
    with torch.no_grad():
        scale = x.abs() + 1
    return scale


class Frozen(nn.Module):
    @torch.no_grad()
    def forward(self, x):
        return x.abs() + 1


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.frozen = Frozen()
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x):
{body}
"""
LOST = [
    ["with torch.no_grad():", "    w = x.abs() + 1", "return x * w"],
    ["with torch.set_grad_enabled(False):", "    w = x.abs() + 1", "return x * w"],
    ["with torch.no_grad():", "    w = self.weight * 2", "return x * w"],
    ["with torch.no_grad():", "    a = x.abs()", "    w = a + 1", "return x * w"],
    ["w = x", "for _ in range(2):", "    with torch.no_grad():", "        w = w * 2", "return x * w"],
    ["torch.set_grad_enabled(False)", "w = x.abs() + 1", "torch.set_grad_enabled(True)", "return x * w"],
    ["return x * scaled(x)"],
    ["return x * scaled_within(x)"],
    ["return x * self.frozen(x)"],
]
KEPT = [
    ["w = (x.abs() + 1).detach()", "return x * w"],
    ["with torch.no_grad():", "    w = x.abs().detach() + 1", "return x * w"],
    ["with torch.no_grad():", "    mask = x > 0", "return x * mask"],
    ["with torch.no_grad():", "    first = x.argmax()", "return x[first] * x"],
    ["with torch.no_grad():", "    order = x.argsort()", "return x[order] * x"],
    ["with torch.no_grad():", "    mask = torch.isnan(x) | x.eq(2)", "return x * mask"],
    ["with torch.no_grad():", "    mask = torch.logical_not(x > 1)", "return x * mask"],
    ["with torch.no_grad():", "    whole = x.long()", "return x * whole"],
    ["with torch.no_grad():", "    places = torch.nonzero(x)", "return x * places.sum()"],
    ["with torch.no_grad():", "    any = (x > 1).any()", "return x * any"],
    ["with torch.no_grad():", "    kind = (x > 1).float()", "return x * kind"],
    ["with torch.no_grad():", "    steps = x.round()", "return x * steps"],
    ["with torch.no_grad():", "    w = torch.ones(3)", "return x * w"],
    ["with torch.no_grad():", "    w = torch.zeros_like(x)", "return x * w"],
    ["with torch.no_grad():", "    w = x.abs() + 1", "return x * 2"],
    ["torch.set_grad_enabled(False)", "w = x > 1", "torch.set_grad_enabled(True)", "return x * w"],
    ["torch.set_grad_enabled(True)", "w = x.abs() + 1", "return x * w"],
    ["with torch.enable_grad():", "    w = x.abs() + 1", "return x * w"],
]


def gradients(net: Any) -> list[torch.Tensor | None]:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    net(x).sum().backward()
    return [x.grad, *(parameter.grad for parameter in net.parameters())]


def is_alike(path: Path) -> bool:
    eager, net = load(str(path)).Net(), load(str(path)).Net()
    traced = torch.jit.trace(net, torch.ones(3), check_trace=False)
    pairs = zip(gradients(eager), gradients(traced), strict=True)
    return all(a is b is None or (a is not None and b is not None and torch.equal(a, b)) for a, b in pairs)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("body", [*LOST, *KEPT], ids="; ".join)
def test_what_takes_gradients_in_the_trace_alone_is_told(tmp_path: Path, body: list[str]) -> None:
    path = tmp_path / "net.py"
    text = "".join(f"        {line}\n" for line in body)
    path.write_text(SOURCE.replace("{body}\n", text), encoding="utf-8")
    report = tsguard.lint([f"{path}:Net"], isolated=True)
    told = [finding.code for finding in report.findings if finding.code == "TSG242"]
    assert report.targets[0].trace.verdict == "safe"
    assert is_alike(path) == (told == []) == (body in KEPT)
