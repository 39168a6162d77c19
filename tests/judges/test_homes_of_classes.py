"""A class of torch is the same by the module that defines it as by the package that shows it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.torch_here import RELEASE
from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.language.tables import tables
from tsguard.project import Project
from tsguard.project.targets import find_target

NET = """\
from torch import nn
{imported}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Linear(3, 3)

    def forward(self, x):
        return {made}.rsample()
"""
IMPORTS = {
    "from torch.distributions import Normal": "Normal(self.mean(x), x.exp())",
    "from torch.distributions.normal import Normal": "Normal(self.mean(x), x.exp())",
    "import torch.distributions.normal as normal": "normal.Normal(self.mean(x), x.exp())",
}


@pytest.mark.parametrize("imported", IMPORTS)
def test_it_is_found_by_either_name(tmp_path: Path, imported: str) -> None:
    path = tmp_path / "net.py"
    path.write_text(NET.format(imported=imported, made=IMPORTS[imported]), encoding="utf-8")
    project = Project((tmp_path,))
    judgement = judge(Program(project, RELEASE), find_target(project.module(path), "Net"))
    assert (judgement.script, judgement.mode) == ("blocked", "dependent")


@pytest.mark.parametrize(
    "cls", [torch.distributions.Categorical, torch.distributions.Normal, torch.Generator, torch.nn.Linear]
)
def test_the_tables_know_where_it_is_defined(cls: type) -> None:
    assert tables(RELEASE).entry(f"{cls.__module__}.{cls.__qualname__}") is not None
