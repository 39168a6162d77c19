"""Line ends of Windows change no verdict: torch reads source with those of Unix."""

from pathlib import Path

import pytest

from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

SOURCE = '''
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        """A constructor with an empty line.

        And a docstring with one.
        """
        super().__init__()

        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        # a comment

        return self.layer(x)
'''


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_constructor_with_empty_lines_is_ok(tmp_path: Path, end: str) -> None:
    path = tmp_path / "model.py"
    path.write_bytes(SOURCE.replace("\n", end).encode())
    project = Project((tmp_path,))
    judged = judge(Program(project), find_target(project.module(path), "Net"))
    assert (judged.script, judged.trace, judged.mode) == ("ok", "safe", "independent")
