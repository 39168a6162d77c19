"""What classes of torch lend to layers that derive from them (``_Loss``, ``_ConvNd``): those names and no others."""

from __future__ import annotations

import linecache
from pathlib import Path
from typing import Any

import pytest
import torch

from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

NET = """\
from torch import Tensor, nn
from torch.nn.modules.dropout import _DropoutNd
from torch.nn.modules.loss import _Loss, _WeightedLoss
{imports}

class Net({bases}):
    def forward(self, x: Tensor):
        return x, {read}
"""


def _script(tmp_path: Path, source: str) -> str:
    path = tmp_path / "net.py"
    path.write_text(source, encoding="utf-8")
    project = Project((tmp_path,))
    return judge(Program(project), find_target(project.module(path), "Net")).script


@pytest.mark.parametrize(
    ("bases", "read"),
    [
        ("_Loss", "self.reduction"),
        ("_Loss", "self.margin"),
        ("_WeightedLoss", "self.weight"),
        ("_WeightedLoss", "self.ignore_index"),
        ("_DropoutNd", "self.p"),
        ("_DropoutNd", "self.rate"),
    ],
)
def test_a_name_is_there_where_all_layers_of_the_class_have_it(tmp_path: Path, bases: str, read: str) -> None:
    source = NET.format(imports="", bases=bases, read=read)
    verdict = _script(tmp_path, source)
    path = str(tmp_path / "net.py")
    linecache.cache[path] = (0, None, source.splitlines(keepends=True), path)
    names: dict[str, Any] = {"__name__": "net"}
    exec(compile(source, path, "exec"), names)
    try:
        torch.jit.script(names["Net"]())
        taken = "ok"
    except RuntimeError:
        taken = "blocked"
    assert verdict == taken


def test_another_base_that_was_not_read_may_have_the_name(tmp_path: Path) -> None:
    imports = "from elsewhere import Mixin\n"
    assert (
        _script(tmp_path, NET.format(imports=imports, bases="_Loss, Mixin", read="self.margin")) == "unknown"
    )
