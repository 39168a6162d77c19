"""Methods that are left in Python run on the scripted module: what they ask of it is there or not as torch has it."""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from tsguard.analysis.python import Program  # noqa: E402
from tsguard.judges import judge  # noqa: E402
from tsguard.project import Project  # noqa: E402
from tsguard.project.targets import find_target  # noqa: E402

MODULE = """
from typing import Final, Optional

import torch
from torch import Tensor, nn

class Base(nn.Module):
    plain_constant = 3
    annotated: Optional[bool] = None
    final: Final[int] = 2
    __constants__ = ["listed"]
    listed = 5

    def __init__(self):
        super().__init__()
        self.number, self.nothing, self.numbers, self.text = 1, None, [1, 2], "a"
        self.table, self.thing, self.empty, self.mixed = {{}}, object(), [], [1, "a"]
        self.operator, self.function = torch.relu, lambda x: x
        self.layer = nn.Linear(3, 3)
        self.register_buffer("ones", torch.ones(3))

    def plain(self):
        return 1

    def compiled(self, x: Tensor) -> Tensor:
        return x

    @torch.jit.ignore
    def ignored(self) -> int:
        return 1

    @torch.jit.unused
    def unused(self) -> int:
        return 1

    @torch.jit.export
    def exported(self, x: Tensor) -> Tensor:
        return self.compiled(x)

    @property
    def read(self) -> int:
        return 1

    @staticmethod
    def static():
        return 1

    def train(self, mode: bool = True):
        return super().train(mode)

class Net(Base):
{methods}
"""
FORWARD = """
    @torch.jit.{mark}
    def forward(self, x):
        {statement}
        return x
"""
CALLED = """
    @torch.jit.ignore
    def helper(self, x: Tensor) -> Tensor:
        {statement}
        return x

    def forward(self, x: Tensor) -> Tensor:
        return self.helper(x)
"""
STATEMENTS = [
    *(
        f"y = self.{name}"
        for name in (
            "plain_constant", "annotated", "final", "listed", "number", "nothing", "numbers", "text", "table", "thing",
            "empty", "mixed", "operator", "function", "layer", "ones", "plain", "compiled", "ignored", "unused",
            "exported", "static", "train", "training", "__class__", "parameters()", "layer.in_features",
        )
    ),
    "y = self.ignored()",
    "y = self.unused()",
    "y = self.static()",
    "y = self.exported(x)",
    "y = self.read + 1",
    "y = getattr(self, 'plain_constant', 0)",
    "y = lambda: self.plain()",
    "y = self.plain() if x is None else 0",
    "y = 0 if self.number else self.plain()",
    "y = [self.plain() for _ in range(self.number)][0:0]",
    "y = [1 for _ in range(self.plain())]",
    "if self.number == 2 and self.plain_constant: return x",
    "if self.plain_constant == 3: return x",
    "if self.number == 1: return x\n        y = self.plain()",
    "self.plain_constant = 4; y = self.plain_constant",
    "setattr(self, 'plain_constant', 4); y = self.plain_constant",
    "if self.number == 2: raise ValueError\n        y = self.plain()",
]  # fmt: skip


def raises(path: Path) -> bool:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        net = module.Net()
        net(torch.ones(3, 3))
        scripted = torch.jit.script(net)
        try:
            scripted(torch.ones(3, 3))
        except (AttributeError, TypeError, RuntimeError):  # of the interpreter of TorchScript
            return True
    return False


@pytest.mark.parametrize(
    "method",
    [FORWARD.replace("{mark}", "ignore"), FORWARD.replace("{mark}", "unused"), CALLED],
    ids=["ignored", "unused", "called"],
)
def test_what_is_left_in_python_raises_where_it_is_said_to(tmp_path: Path, method: str):
    project, told, found = Project((tmp_path,)), {}, {}
    for number, statement in enumerate(STATEMENTS):
        path = tmp_path / f"left_{number}.py"
        path.write_text(MODULE.format(methods=method.format(statement=statement)), encoding="utf-8")
        verdict = judge(Program(project), find_target(project.module(path), "Net")).script
        told[statement], found[statement] = verdict == "broken", raises(path)
    # What a loop, an alternative or a comprehension does is not sure to run.
    unsure = {"y = [self.plain() for _ in range(self.number)][0:0]"}
    assert {s for s in STATEMENTS if told[s] != found[s]} == unsure
