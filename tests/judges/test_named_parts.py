"""Parts of a module that its own methods find by their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.torch_here import RELEASE
from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

NET = """\
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 3), nn.Dropout())

    def forward(self, x):
        return {result}
"""
PARTS = {
    'self.get_submodule("layers.0")(x)': "independent",
    'self.get_submodule("layers.1")(x)': "dependent",
    'self.get_submodule("layers")(x)': "dependent",
    'self.__getattr__("layers")(x)': "dependent",
    'self.__getattr__("layers")[0](x)': "independent",
    'x @ self.get_parameter("layers.0.weight")': "independent",
}


@pytest.mark.parametrize("result", PARTS)
def test_they_are_found(tmp_path: Path, result: str) -> None:
    path = tmp_path / "net.py"
    path.write_text(NET.format(result=result), encoding="utf-8")
    project = Project((tmp_path,))
    judgement = judge(Program(project, RELEASE), find_target(project.module(path), "Net"))
    assert (judgement.trace, judgement.mode, judgement.export.verdict) == ("safe", PARTS[result], "exports")
