"""A parameter that may be left out, by other names and in what it is handed to, held against torch."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
import torch

from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

FILE = """\
import torch
from torch import nn


class Inner(nn.Module):
    def forward(self, x, hidden=None):
        {asked}
        if h is not None:
            x = x + h
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x, hidden=None):
        return self.inner(x{handed})
"""


@pytest.mark.parametrize(
    ("asked", "handed", "is_broken"),
    [
        ("h = hidden", ", hidden", True),
        ("before = h = hidden", ", hidden", True),
        ("other = hidden; h = x", ", hidden", False),
        ("h = hidden", ", x", False),
    ],
)
def test_none_under_another_name(tmp_path: Path, asked: str, handed: str, is_broken: bool) -> None:
    path = tmp_path / "net.py"
    path.write_text(FILE.format(asked=asked, handed=handed), encoding="utf-8")
    project = Project((tmp_path,))
    found = judge(Program(project), find_target(project.module(path), "Net"))
    assert found.script == ("broken" if is_broken else "ok")
    assert [f.message for f in found.findings if f.code == "TSG185"] == [
        '"hidden" defaults to None but is not annotated: TorchScript assumes a Tensor, which is never None'
    ] * is_broken

    net = runpy.run_path(str(path))["Net"]()
    scripted = torch.jit.script(net)
    x = torch.ones(3)
    if is_broken:
        with pytest.raises(RuntimeError, match="undefined Tensor"):
            scripted(x)
    else:
        assert torch.equal(scripted(x), net(x))
