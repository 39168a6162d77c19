"""Devices that a trace keeps: what is told of them, held against a trace that is moved to torch's meta device."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import tsguard
from tests.rules.on_torch import load

SOURCE = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))
        self.register_buffer("table", torch.ones(3))
        self.linear = nn.Linear(3, 3)

    @property
    def device(self):
        return self.linear.weight.device

    def forward(self, x):
        return {result}
"""
KEPT = [
    "x + torch.ones(3, device=self.scale.device)",
    "x + torch.ones(3, device=self.table.device)",
    "x + torch.ones(3, device=next(self.parameters()).device)",
    "x + torch.ones(3, device=(2 * self.scale).device)",
    "x + torch.ones(3).to(self.device)",
    "x.to(self.device) + self.scale",
    "x.to(device=self.device, dtype=self.scale.dtype) + self.scale",
    "x + torch.zeros_like(x, device=self.scale.device)",
    "x + torch.ones(3).to(self.scale)",
    "x + torch.ones(3).to(x)",
    "x + torch.ones(3, device=x.device)",
    "x + torch.ones(3, device=(x * self.scale).device)",
    "x + torch.ones(3).to(x.device)",
]
FOLLOWED = [
    "x + self.scale.new_ones(3)",
    "x + torch.zeros_like(self.scale)",
    "x + torch.ones(3).type_as(self.scale)",
    "x.to(self.scale.dtype) + self.scale",
    "x + x.new_ones(3)",
    "x + (1 if self.device is not None else 2)",
]


def moves(path: Path) -> bool:
    traced = torch.jit.trace(load(str(path)).Net(), torch.ones(3), check_trace=False).to("meta")
    try:
        return bool(traced(torch.ones(3, device="meta")).device.type == "meta")
    except RuntimeError:
        return False


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("result", [*KEPT, *FOLLOWED])
def test_what_stays_where_the_module_was_traced_is_told(tmp_path: Path, result: str) -> None:
    path = tmp_path / "net.py"
    path.write_text(SOURCE.replace("{result}", result), encoding="utf-8")
    report = tsguard.lint([f"{path}:Net"], isolated=True)
    told = [finding.code for finding in report.findings if finding.family == "trace"]
    assert report.targets[0].trace.verdict == "safe"
    assert moves(path) == (told == []) == (result in FOLLOWED)
