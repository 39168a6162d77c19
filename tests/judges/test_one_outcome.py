"""What only looks as if it were another at each call, or in another process: draws with one outcome, ``torch.distributed``."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tsguard.analysis.python import Program
from tsguard.judges import Judgement, judge
from tsguard.project import Project
from tsguard.project.targets import find_target

MODULE = """\
import random
import numpy as np
import torch
import torch.distributed as dist
from torch import nn

class Net(nn.Module):
    def __init__(self, shift: int = 0):
        super().__init__()
        self.shift = shift
        self.is_spread = dist.is_initialized() and dist.get_world_size() > 1

    def forward(self, x: torch.Tensor):
        return {returned}
"""
ONE = [
    "random.randrange(1)",
    "random.randrange(self.shift + 1)",
    "random.randrange(3, 4)",
    "random.randint(3, 3)",
    "random.uniform(2.0, 2.0)",
    "random.choice([2])",
    "np.random.randint(1)",
    "np.random.randint(4, 5)",
]
SEVERAL = [
    "random.randrange(2)",
    "random.randrange(self.shift + 2)",
    "random.randint(0, 1)",
    "random.choice([2, 3])",
    "np.random.randint(4, 6)",
]


def judged(folder: Path, returned: str, target: str = "Net") -> Judgement:
    file = folder / "model.py"
    file.write_text(MODULE.format(returned=returned))
    program = Program(Project((folder,)))
    return judge(program, find_target(program.project.module(file), target))


@pytest.mark.parametrize("drawn", [*ONE, *SEVERAL])
def test_a_draw_with_one_outcome_is_no_chance(tmp_path: Path, drawn: str):
    judgement = judged(tmp_path, f"x + {drawn}")
    names = {"random": random, "np": pytest.importorskip("numpy"), "self": type("Net", (), {"shift": 0})}
    is_one = len({eval(drawn, dict(names)) for _ in range(99)}) == 1
    assert is_one == (drawn in ONE)
    assert judgement.trace == ("safe" if is_one else "hazardous")
    assert judgement.mode == ("independent" if is_one else "dependent")


def test_what_a_given_argument_leaves_to_chance_is_told(tmp_path: Path):
    assert judged(tmp_path, "x + random.randrange(self.shift + 1)", "Net(3)").trace == "hazardous"


def test_nobody_has_launched_several_processes_by_default(tmp_path: Path):
    judgement = judged(tmp_path, "x[torch.randperm(len(x)).tolist()] if self.is_spread else x * 2")
    assert (judgement.trace, judgement.export.verdict, judgement.mode) == ("safe", "exports", "independent")
