"""What annotations say of inputs: objects of which classes torch.export and torch.jit.trace take."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest
import torch

from tsguard.analysis.python import Program
from tsguard.judges import Judgement, judge
from tsguard.project import Project
from tsguard.project.targets import find_target

MODULE = """
import abc
import dataclasses
import enum
from typing import *

import torch
from torch import nn

{box}

class Net(nn.Module):
    def forward(self, x: torch.Tensor, box: {annotation}):
        return x * {used}
"""
NET = """
import math
import numpy as np
import torch
from torch import nn

class Net(nn.Module):
{forward}
"""
PLAIN = "class Box:\n    k = 2"
RECORD = "@dataclasses.dataclass\nclass Box:\n    k: torch.Tensor"


@pytest.mark.parametrize(
    ("box", "annotation", "used", "trace", "export"),
    [
        (PLAIN, "Box", "box.k", "hazardous", "refused"),
        (PLAIN, "'Box'", "box.k", "hazardous", "refused"),
        (PLAIN, "Optional[Box]", "2", "hazardous", "refused"),
        (PLAIN, "Box | None", "2", "hazardous", "refused"),
        (PLAIN, "Optional[torch.Tensor]", "2", "safe", "exports"),
        (PLAIN, "Union[torch.Tensor, Box]", "2", "safe", "exports"),
        (PLAIN, "List[Box]", "box[0].k", "hazardous", "refused"),
        (RECORD, "Box", "box.k", "hazardous", "refused"),
        (f"{RECORD}\ntorch.export.register_dataclass(Box)", "Box", "box.k", "hazardous", "exports"),
        ("class Box(NamedTuple):\n    k: int = 2", "Box", "box.k", "hazardous", "exports"),
        ("class Box(enum.Enum):\n    A = 2", "Box", "box.value", "hazardous", "exports"),
        ("class Box(str, enum.Enum):\n    A = 'a'", "Box", "2", "hazardous", "exports"),
        ("class Box(abc.ABC):\n    k = 2", "Box", "box.k", "hazardous", "refused"),
        ("class Box(Protocol):\n    k: int", "Box", "2", "hazardous", "exports"),
        ("V = TypeVar('V')\nclass Box(Generic[V]):\n    k = 2", "Box[int]", "box.k", "hazardous", "refused"),
    ],
)
def test_inputs_of_classes(tmp_path: Path, box: str, annotation: str, used: str, trace: str, export: str):
    path = tmp_path / "model.py"
    path.write_text(MODULE.format(box=box, annotation=annotation, used=used), encoding="utf-8")
    project = Project((tmp_path,))
    judged = judge(Program(project), find_target(project.module(path), "Net"))
    assert (judged.trace, judged.export.verdict) == (trace, export)


def judged(tmp_path: Path, forward: str) -> Judgement:
    """What is said of a module with a forward."""
    path = tmp_path / "model.py"
    path.write_text(NET.format(forward=textwrap.indent(forward, "    ")), encoding="utf-8")
    project = Project((tmp_path,))
    return judge(Program(project), find_target(project.module(path), "Net"))


def exported(forward: str, *args: object, **kwargs: object) -> str:
    """What torch.export says of the same module for inputs."""
    space: dict[str, Any] = {}
    exec(NET.format(forward=textwrap.indent(forward, "    ")), space)
    try:
        torch.export.export(space["Net"](), args, kwargs)
    except Exception:
        return "refused"
    return "exports"


def test_a_call_of_any_arguments_leaves_to_the_forward_what_there_is(tmp_path: Path):
    forward = (
        "def forward(self, x: torch.Tensor, y: torch.Tensor):\n"
        "    return x + y if y.dim() == 2 else x\n\n"
        "__call__ = lambda self, *args, **kwargs: super(Net, self).__call__(*args, **kwargs)\n"
    )
    found = judged(tmp_path, forward)
    assert (found.trace, found.export.verdict) == ("safe", "exports")


@pytest.mark.parametrize(
    ("used", "with_tensor"),
    [
        ("x.view(h, -1)", "exports"),
        ("x.view(int(np.ceil(h / 2)) * 2, -1)", "refused"),
        ("torch.zeros(math.floor(h / 2), 3) if math.ceil(h) > 2 else x", "refused"),
    ],
)
def test_an_input_that_sizes_are_made_of_is_a_number_to_torch_export(
    tmp_path: Path, used: str, with_tensor: str
):
    forward = f"def forward(self, x, h):\n    return {used}\n"
    found = judged(tmp_path, forward)
    assert (found.trace, found.export.verdict) == ("hazardous", exported(forward, torch.rand(4, 6), 4))
    assert exported(forward, torch.rand(4, 6), torch.tensor(4)) == with_tensor


def test_an_input_that_is_asked_for_what_tensors_have_is_no_number(tmp_path: Path):
    forward = (
        "def forward(self, x, h):\n    n = math.ceil(h) if h.sum() > 2 else 2\n    return x.view(n, -1)\n"
    )
    assert judged(tmp_path, forward).export.verdict == "refused"
    assert exported(forward, torch.rand(4, 6), torch.tensor(4)) == "refused"


@pytest.mark.parametrize("used", ["x * y.shape[0]", "x if y.sum() > 0 else -x", "torch.cat([x, y])"])
def test_an_input_that_is_given_by_keyword_is_followed(tmp_path: Path, used: str):
    forward = f"def forward(self, x, *, y):\n    return {used}\n"
    found = judged(tmp_path, forward)
    said = exported(forward, torch.rand(3, 4), y=torch.rand(3, 4))
    assert (found.trace, found.export.verdict) == ("hazardous", said)


@pytest.mark.parametrize(
    ("used", "export"),
    [
        ("2 if hasattr(x, 'edges') else 3", "exports"),
        ("getattr(x, 'edges', 2)", "exports"),
        ("getattr(x, 'edges')", "refused"),
        ("x.edges", "refused"),
    ],
)
def test_what_asks_for_an_attribute_takes_a_tensor_that_has_none(
    tmp_path: Path, used: str, export: str
) -> None:
    forward = f"    def forward(self, x):\n        return x * ({used})"
    assert judged(tmp_path, forward).export.verdict == export


@pytest.mark.parametrize(("annotation", "given"), [("list[tuple[int, int]]", [(2, 3)]), ("int", 4)])
def test_a_tensor_of_annotated_numbers_has_the_number(tmp_path: Path, annotation: str, given: object) -> None:
    number = "n" if annotation == "int" else "n[0][1]"
    forward = (
        f"def forward(self, x: torch.Tensor, n: {annotation}):\n"
        f"    return x * float(torch.tensor({number} / 2).log2().round())\n"
    )
    found = judged(tmp_path, forward)
    assert (found.trace, found.export.verdict) == ("hazardous", exported(forward, torch.rand(4, 6), given))
