"""What is wrong at one place is mended once, for however many targets it is reported."""

from __future__ import annotations

from pathlib import Path

from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import targets_of

SOURCE = """
import torch
from torch import nn

class Net(nn.Module):
    def forward(self, x, mask=None):
        if mask:
            x = x * mask
        return x

class Wide(Net):
    pass
"""


def test_a_place_that_two_targets_share_has_one_fix_made_once(tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    file.write_text(SOURCE)
    program = Program(Project())
    module = program.project.module(file)
    net, wide = (judge(program, target) for target in targets_of(program.project, module))
    fixes = {(f.code, f.line): f.fix for f in net.findings if f.fix is not None}
    assert fixes
    for finding in wide.findings:
        if finding.fix is not None:
            assert finding.fix is fixes[finding.code, finding.line]


def test_a_file_that_is_read_anew_is_mended_anew(tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    found = []
    for text in (SOURCE, "\n" + SOURCE):
        file.write_text(text)
        program = Program(Project())
        module = program.project.module(file)
        first = next(iter(targets_of(program.project, module)))
        found.append([e.line for f in judge(program, first).findings if f.fix for e in f.fix.edits])
    before, after = found
    assert before
    assert after == [line + 1 for line in before]
