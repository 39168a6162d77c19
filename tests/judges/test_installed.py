"""What is installed is judged for the sake of who uses it, and not mended."""

from __future__ import annotations

from pathlib import Path

from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

PARTS = """\
from torch import nn


class Part(nn.Module):
    def forward(self, x):
        ...
        return x * 2
"""
NET = """\
from torch import nn
from parts import Part


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()

    def forward(self, x):
        return self.part(x)
"""


def test_no_fix_is_sought_in_what_is_installed_for_who_uses_it(folder: Path) -> None:
    installed = folder / "site-packages"
    installed.mkdir()
    parts, net = installed / "parts.py", folder / "net.py"
    parts.write_text(PARTS)
    net.write_text(NET)
    project = Project((folder, installed))
    of_user = judge(Program(project), find_target(project.module(net), "Net")).findings
    own = judge(Program(project), find_target(project.module(parts), "Part")).findings
    assert [finding.fix for finding in of_user if finding.path == str(parts)] == [None]
    assert [finding.fix is not None for finding in own if finding.family == "script"] == [True]
