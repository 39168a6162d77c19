"""Functions that only tell torch that they are used are not followed; those that do anything else are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tsguard.analysis.python import Program, PythonInterpreter
from tsguard.analysis.subjects import build
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

NET = """\
import torch
from torch import nn


def log(obj):
    name = obj.__class__.__name__
    if not name.startswith("Net"):
        name = f"inner.{{name}}"
    {does}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        log(self)

    def forward(self, x):
        if not torch.jit.is_scripting() and not torch.jit.is_tracing():
            log(self)
        return x * 2
"""


def _net(folder: Path, does: str) -> tuple[Program, Any]:
    file = folder / "net.py"
    file.write_text(NET.format(does=does), encoding="utf-8")
    program = Program(Project((folder,)))
    return program, find_target(program.project.module(file), "Net")


@pytest.mark.parametrize(
    ("does", "is_followed"),
    [
        ("torch._C._log_api_usage_once(name)", False),
        ("torch._C._log_api_usage_once(name)\n    obj.seen = name", True),
        ("torch._C._log_api_usage_once(obj.register())", True),
        ("torch._C._log_api_usage_once(name)\n    return name", True),
        ("obj._log_api_usage_once(name)", True),
        ("torch.manual_seed(0)", True),
        ("torch._C._log_api_usage_once(name.upper())", True),
        ("log(obj) if name else None", True),
        ("if name == '':\n        log(obj)", True),
    ],
)
def test_a_function_that_does_more_than_to_tell_torch_is_followed(
    tmp_path: Path, does: str, is_followed: bool
):
    more = "name = obj.__class__.__name__\n    " * 3
    assert (_steps(tmp_path, more + does) > _steps(tmp_path, does)) == is_followed


def _steps(folder: Path, does: str) -> int:
    """What constructing the module takes: of what is not followed, nothing."""
    program, target = _net(folder, does)
    interp = PythonInterpreter(program)
    build(interp, target)
    return interp.world.spent


def test_what_is_only_told_in_eager_makes_no_trace_another(tmp_path: Path):
    judged = judge(*_net(tmp_path, "torch._C._log_api_usage_once(name)"))
    assert (judged.script, judged.trace) == ("ok", "safe")
    assert not [f for f in judged.findings if f.severity != "info"]
