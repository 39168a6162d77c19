"""Sizes that only one way of a condition on sizes fixes: which way the example takes, the source does not tell."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
import torch
from torch.export import Dim

from tsguard.analysis.python import Program
from tsguard.judges.judgement import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

FILE = """\
import math

from torch import nn


class Net(nn.Module):
    def forward(self, x):
        rows, columns = x.size()
        if rows * columns > 100:
            return x * {many}
        return x * {few}
"""
WAYS = {
    "few": ("2", "math.sqrt(rows)", "unknown"),
    "many": ("math.sqrt(rows)", "2", "unknown"),
    "none": ("2", "rows", "exports"),
    "both": ("rows", "rows ** 0.5", "exports"),
}


def judged(path: Path) -> str:
    project = Project((path.parent,))
    return judge(Program(project, "2.13"), find_target(project.module(path), "Net")).export.dynamic


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", WAYS)
def test_it_is_said_where_no_way_fixes_a_size(tmp_path: Path, name: str) -> None:
    many, few, dynamic = WAYS[name]
    path = tmp_path / "net.py"
    path.write_text(FILE.format(many=many, few=few))
    assert judged(path) == dynamic
    net = runpy.run_path(str(path))["Net"]()
    taken = set()
    for rows in (4, 40):
        try:
            program = torch.export.export(net, (torch.ones(rows, 5),), dynamic_shapes=({0: Dim.DYNAMIC},))
            taken.add(torch.equal(program.module()(torch.ones(rows + 1, 5)), net(torch.ones(rows + 1, 5))))
        except torch._dynamo.exc.UserError:
            taken.add(False)
    assert taken == ({True} if dynamic == "exports" else {True, False})
