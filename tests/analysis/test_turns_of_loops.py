"""A loop that is counted is run to its end; of one that is too long, what any turn may do is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.torch_here import RELEASE
from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

_HEAD = """
import itertools

import numpy as np
import torch
from torch import nn


class Bad(nn.Module):
    def forward(self, x):
        return lambda: x


def entries(k):
    return sum([k * j for j in range(500)])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = nn.Linear(3, 3)
        for i in {}:
            if i == {}:
                self.part = Bad()

    def forward(self, x):
        return self.part(x)
"""


@pytest.fixture
def verdict(tmp_path: Path):
    def run(turns: str, late: str) -> str:
        (tmp_path / "net.py").write_text(_HEAD.format(turns, late), encoding="utf-8")
        project = Project((tmp_path,))
        target = find_target(project.module(tmp_path / "net.py"), "Net")
        return judge(Program(project, RELEASE), target).script

    return run


@pytest.mark.parametrize(
    "turns",
    [
        "range(100)",
        "reversed(range(100))",
        "sorted(range(100))",
        "list(range(100))",
        "[k for k in range(100)]",
        "(k for k in range(100))",
        "map(int, range(100))",
        "itertools.chain(range(50), range(50, 100))",
        "itertools.accumulate([1] * 100)",
    ],
)
def test_what_a_late_turn_makes_is_made(verdict, turns: str) -> None:
    assert verdict(turns, "70") == "blocked"
    assert verdict(turns, "700") == "ok"


def test_a_late_letter_is_read(verdict) -> None:
    assert verdict(repr("a" * 80 + "b"), "'b'") == "blocked"


@pytest.mark.parametrize(
    "turns",
    [
        "range(5000)",
        "[a * 10 + b for a, b in itertools.product(range(10), range(10))]",
        "[b for _, b in itertools.pairwise(range(100))]",
        "[a for a, b in itertools.combinations(range(80), 2)]",
        "np.arange(100)",
        "torch.arange(100)",
    ],
)
def test_of_a_long_loop_any_turn_is_asked_for(verdict, turns: str) -> None:
    assert verdict(turns, "70") == "depends"


def test_a_text_that_is_too_long_may_hold_any_letter(verdict) -> None:
    assert verdict("'a' * 5000 + 'b'", "'b'") != "ok"


@pytest.mark.parametrize(
    "entries",
    [
        "[sum(k * j for j in range(500)) for k in range(200)][:1]",
        "[entries(k) for k in range(200)][:1]",
    ],
)
def test_not_all_entries_of_a_table_are_counted(verdict, entries: str) -> None:
    assert verdict(f"{entries} and range(3)", "700") == "ok"
