"""Compiled functions of other packages: given numbers they make numbers, and those of the example while tracing."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.judges.judgement import Judgement
from tsguard.project import Project
from tsguard.project.targets import find_target


def judged(tmp_path: Path, given: str) -> Judgement:
    folder = tmp_path / "site-packages" / "fast"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("from fast.sizes import good\n", encoding="utf-8")
    (folder / "sizes.cpython-311-x86_64-linux-gnu.so").write_bytes(b"")
    source = f"""
        import torch
        from torch import nn
        from fast import good

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.width = 8

            def forward(self, x):
                x = x.view(-1, 8)
                return torch.fft.fft(x, {given}).abs()
    """
    path = tmp_path / "model.py"
    path.write_text(textwrap.dedent(source), encoding="utf-8")
    project = Project((tmp_path, tmp_path / "site-packages"))
    return judge(Program(project), find_target(project.module(path), "Net"))


@pytest.mark.parametrize(
    ("given", "trace", "export", "dynamic"),
    [
        ("good(self.width)", "safe", "exports", "exports"),
        ("good(x.shape[1])", "safe", "exports", "exports"),
        ("good(x.shape[0])", "hazardous", "exports", "specialised"),
        ("good(x)", "unknown", "unknown", "unknown"),
    ],
)
def test_a_compiled_function_takes_the_number(
    tmp_path: Path, given: str, trace: str, export: str, dynamic: str
) -> None:
    found = judged(tmp_path, given)
    assert (found.trace, found.export.verdict, found.export.dynamic) == (trace, export, dynamic)
