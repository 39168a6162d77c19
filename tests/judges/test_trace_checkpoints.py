"""Which kind of checkpointing a forward asks for decides whether it can be traced."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.torch_here import RELEASE
from tsguard.analysis.python import Program
from tsguard.judges.judgement import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

FLAG = """\
import os

import torch
import torch.utils.checkpoint
from torch import nn

if "REENTRANT" in os.environ:
    REENTRANT = bool(os.environ["REENTRANT"])
else:
    REENTRANT = False


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(9, 9)

    def forward(self, x):
        return torch.utils.checkpoint.checkpoint(self.layer, x, use_reentrant={kind})
"""


@pytest.mark.parametrize(
    ("kind", "verdict"), [("REENTRANT", "unknown"), ("False", "safe"), ("True", "hazardous")]
)
def test_the_kind_of_checkpointing_is_not_guessed(tmp_path: Path, kind: str, verdict: str) -> None:
    (tmp_path / "net.py").write_text(FLAG.format(kind=kind), encoding="utf-8")
    project = Project((tmp_path,))
    found = judge(Program(project, RELEASE), find_target(project.module(tmp_path / "net.py"), "Net"))
    assert found.trace == verdict
