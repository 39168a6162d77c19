"""Numbers before the Tensors of a call, as Python takes them: what torch.jit.script does, and after the fix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import tsguard
from tests.rules.on_torch import load
from tsguard.language.number_orders import by_name
from tsguard.repairing.fixing import fix
from tsguard.settings.config import Settings
from tsguard.settings.requests import parse, plan

SOURCE = """
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x, scale: float = 0.5):
        row, batch, copy = x[0], x[None], x.clone()
        return {result}
"""
BROKEN = [
    "torch.add(x, 1, x)",
    "x.add(0.5, x)",
    "copy.add_(scale, x * 2)",
    "copy.mul_(0.9).add_(1 - 0.9, x)",
    "torch.sub(x, 2, x)",
    "copy.sub_(2, x)",
    "torch.add(x, 0.5, x.sum(1))",
    "torch.add(x, 0.5, x.mean(dim=0))",
    "torch.add(x, 0.5, x[0])",
]
REFUSED = [
    "torch.addcmul(x, 1, x, x)",
    "x.addcdiv(0.1, x, x)",
    "copy.addcmul_(scale, x, x)",
    "torch.addmm(1, x, 2, x, x)",
    "torch.addmm(1, x, x, x)",
    "x.addmm(1, 2, x, x)",
    "torch.addmv(1, row, 2, x, row)",
    "torch.addr(1, x, 2, row, row)",
    "torch.addbmm(1, x, 2, batch, batch)",
    "torch.baddbmm(1, batch, 2, batch, batch)",
]
TAKEN = [
    "torch.add(x, x, alpha=2)",
    "torch.add(x, 3, alpha=2)",
    "torch.add(x, 0.5, x.sum())",
    "x.add(2, x.mean())",
    "torch.addmm(x, x, x, beta=2)",
    "x.add(x)",
]
X = torch.tensor([[1.0, 2.0], [3.0, 5.0]])


def outcome(path: Path) -> str:
    net: Any = load(str(path)).Net()
    try:
        scripted: Any = torch.jit.script(net)
    except RuntimeError:
        return "blocked"
    try:
        return "ok" if torch.equal(scripted(X), net(X)) else "broken"
    except RuntimeError:
        return "broken"


def verdict(path: Path) -> str:
    return tsguard.lint([f"{path}:Net"], isolated=True).targets[0].script.verdict


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("result", [*BROKEN, *REFUSED, *TAKEN])
def test_the_verdict_is_that_of_torch(tmp_path: Path, result: str) -> None:
    path = tmp_path / "net.py"
    path.write_text(SOURCE.replace("{result}", result), encoding="utf-8")
    assert verdict(path) == outcome(path)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("result", [*BROKEN, *REFUSED])
def test_the_fix_passes_numbers_by_name(tmp_path: Path, result: str) -> None:
    path, before = tmp_path / "net.py", tmp_path / "before.py"
    path.write_text(SOURCE.replace("{result}", result), encoding="utf-8")
    before.write_bytes(path.read_bytes())
    settings = Settings()
    done = fix(plan([parse(f"{path}:Net", settings)], settings), settings, unsafe=False)
    assert done.report.fixed == 1
    assert (verdict(path), outcome(path)) == ("ok", "ok")
    assert torch.equal(load(str(path)).Net()(X), load(str(before)).Net()(X))


def test_other_counts_of_arguments_are_no_such_order() -> None:
    assert by_name("add", ["x", "y"], is_method=False) is None
    assert by_name("addmm", ["x", "a", "b"], is_method=False) is None
    assert by_name("mul", ["x", "2", "y"], is_method=False) is None
