"""What one judgement of a copy is held against."""

from pathlib import Path

import pytest

from tsguard.repairing.judging import judged
from tsguard.runtime.launcher import Launcher
from tsguard.runtime.subject import Subject
from tsguard.runtime.task import Limits

pytest.importorskip("torch")

LAZY = """\
import torch
from torch import nn


class Lazy(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = None

    def forward(self, x):
        if self.weight is None:
            self.weight = nn.Parameter(torch.ones(x.shape[-1]))
        return x * self.weight
"""


def test_code_as_it_was_is_unchanged_though_the_first_call_makes_parameters(tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    file.write_text(LAZY)
    inputs = ("torch.ones(2, 3)",)
    subject = Subject("s", str(file), file.name, str(tmp_path), "net", "Lazy", "module", "Lazy()", inputs)
    with Launcher() as launcher:
        words = [judged(launcher, subject, tmp_path / "kept.pt", Limits()) for _ in range(2)]
    assert [word.status for word in words] == ["refused", "refused"]
