"""Constants that a forward writes into: what they hold then is data, through whatever name it is reached."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

MODULE = """
import torch
import torch.nn.functional as F
from torch import nn

def fill(table, x):
    table[0] = x[0].sum()

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.tables = dict()

    def forward(self, x):
        table = torch.zeros(2, 8)
{written}
        return x * 2 if table.sum() > 3 else x
"""


def verdict(tmp_path: Path, written: str) -> str:
    path = tmp_path / "model.py"
    path.write_text(MODULE.format(written=textwrap.indent(written, " " * 8)), encoding="utf-8")
    project = Project((tmp_path,))
    return judge(Program(project), find_target(project.module(path), "Net")).trace


@pytest.mark.parametrize(
    "written",
    [
        "table[0] = x[0]",
        "table[:, 1:] += x[:, 1:]",
        "for i in range(2):\n    table[i] = x[i].sum()",
        "table.copy_(x)",
        "table.add_(x[0])",
        "table.scatter_(0, torch.tensor([[1]]), x)",
        "table[x.argmax(1)] = 1",
        "table[: x.shape[0]] = 1",
        "row = table[0]\nrow.copy_(x[0])",
        "table[0].copy_(x[0])",
        "table.view(-1)[0] = x[0, 0]",
        "torch.add(x, 1, out=table)",
        "torch.relu_(table.add_(x))",
        "fill(table, x)",
        "tables = [table]\ntables[0][1] = x[1]",
        "if x.shape[0] == 2:\n    table[0] = x[0]",
        "table.uniform_()",
        "nn.init.normal_(table)",
    ],
)
def test_data_that_is_written_into_a_constant(tmp_path: Path, written: str) -> None:
    assert verdict(tmp_path, written) == "hazardous"


@pytest.mark.parametrize(
    "written",
    [
        "",
        "table[0] = 1",
        "table[0] = torch.arange(8)",
        "table.fill_(2)",
        "nn.init.ones_(table)",
        "other = table.clone()\nother[0] = x[0]",
        "for part in (slice(0, 1), slice(1, None)):\n    table[part] = 3",
        "x = x.view(2, 8)\ntable[: x.shape[0]] = 1",
    ],
)
def test_what_is_given_leaves_it_one(tmp_path: Path, written: str) -> None:
    assert verdict(tmp_path, written) == "safe"


def test_a_random_number_of_several_sizes_is_one(tmp_path: Path) -> None:
    assert verdict(tmp_path, "x = x * torch.rand(2, 8).sum().item()") == "hazardous"


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        (
            "if n not in self.tables:\n    self.tables[n] = torch.ones(n)\nx = x * self.tables[n].sum()",
            "safe",
        ),
        (
            "found = self.tables.get(n)\nif found is None:\n    found = torch.ones(n)\n    self.tables[n] = found\n"
            "x = x * found.sum()",
            "safe",
        ),
        ("self.tables[n] = torch.ones(n)\nx = x * self.tables[x.shape[1]].sum()", "hazardous"),
        ("x = x * x.new_tensor(n)", "safe"),
        ("x = x * x.new_tensor([n])", "hazardous"),
    ],
)
def test_a_size_is_one_tensor_under_one_name(tmp_path: Path, kept: str, expected: str) -> None:
    assert verdict(tmp_path, f"n = x.shape[1]\n{kept}\nreturn x") == expected
