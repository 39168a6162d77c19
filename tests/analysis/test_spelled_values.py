"""What a text spells is told; what no source tells is no promise."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

SAID = {
    "ast.literal_eval(\"{1: 2, 'a': 3}\")[1]": "ok",
    "ast.literal_eval(\"{1: 2, 'a': 3}\")": "blocked",
    "eval(\"{1: 2, 'a': 3}\")": "blocked",
    'json.loads(\'{"a": 1, "b": []}\')': "blocked",
    "json.loads('3')": "ok",
    "eval('[1, 2][0]')": "unknown",
    "json.loads(open('config.json').read())": "unknown",
}


@pytest.mark.parametrize("value", SAID)
def test_a_value_from_a_text(tmp_path: Path, value: str) -> None:
    path = tmp_path / "model.py"
    path.write_text(
        f"""\
import ast
import json

from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = {value}

    def forward(self, x):
        return x * self.factor
""",
        encoding="utf-8",
    )
    project = Project((tmp_path,))
    assert judge(Program(project), find_target(project.module(path), "Net")).script == SAID[value]
