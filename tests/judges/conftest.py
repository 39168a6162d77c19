"""What several tests of judges ask: a source, judged."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.torch_here import RELEASE
from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target
from tsguard.report import ExportJudgement
from tsguard.settings.dynamic import open_sizes

IMPORTS = """\
import math
import torch
from torch import nn
"""


@pytest.fixture
def exported(tmp_path: Path):
    """What is said of ``Net``, or of the function ``f``, of a source; or of ``made`` of it."""

    def run(source: str, *dynamic: str, made: str = "") -> ExportJudgement:
        path = tmp_path / "model.py"
        path.write_text(IMPORTS + textwrap.dedent(source), encoding="utf-8")
        project = Project((tmp_path,))
        target = made or ("Net" if "class Net" in source else "f")
        program = Program(project, RELEASE, open_sizes=tuple(map(open_sizes, dynamic)))
        return judge(program, find_target(project.module(path), target)).export

    return run
