"""Iterators in constructors: each item comes once, and what a list gets meanwhile comes too."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

HOLDS = {
    "appended later": "items = [1]; found = iter(items); items.append(2)\nis_so = list(found) == [1, 2]",
    "appended by the loop": "items = [1]\nfor item in items:\n    if len(items) < 3:\n        items.append(item)\n"
    "is_so = len(items) == 3",
    "given once": "found = zip([1], [2]); first = list(found)\nis_so = list(found) == []",
    "left by a loop": "found = iter([1, 2, 3])\nfor item in found:\n    break\nis_so = list(found) == [2, 3]",
    "in pairs": "found = iter([1, 2, 3, 4])\nis_so = list(zip(found, found)) == [(1, 2), (3, 4)]",
    "added up": "found = (item for item in [1, 2, 3]); next(found)\nis_so = sum(found) == 5 and not list(found)",
    "no list": "is_so = not isinstance(map(int, []), list)",
}


@pytest.mark.parametrize("name", HOLDS)
def test_a_constructor_sees_what_python_gives(tmp_path: Path, name: str) -> None:
    body = textwrap.indent(HOLDS[name], " " * 8)
    source = f"""\
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
{body}
        self.factor = 2 if is_so else {{1: 2, "a": 3}}

    def forward(self, x):
        return x * self.factor
"""
    path = tmp_path / "model.py"
    path.write_text(source, encoding="utf-8")
    project = Project((tmp_path,))
    assert judge(Program(project), find_target(project.module(path), "Net")).script == "ok"
    names: dict[str, object] = {}
    exec(HOLDS[name], names)
    assert names["is_so"]
