"""The rules of shapes against torch: what each operation and layer makes of a tensor whose sizes are pinned."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from tsguard.analysis.python import Program  # noqa: E402
from tsguard.judges import judge  # noqa: E402
from tsguard.project import Project  # noqa: E402
from tsguard.project.targets import find_target  # noqa: E402

HERE = Path(__file__).parent
OPERATIONS = (HERE / "shapes.txt").read_text(encoding="utf-8").splitlines()
LAYERS = [line.split(" -> ") for line in (HERE / "layer_shapes.txt").read_text(encoding="utf-8").splitlines()]

MODULE = """
import torch
import torch.nn.functional as F
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = {layer}

    def forward(self, x):
        x = x.view(2, 3, 8)
        y = {expression}
{checks}
        return x
"""
CHECK = """
        if {value} != {number}:
            x = -x if x.sum() > 0 else x
"""


def sizes(name: str, result: object) -> Iterator[tuple[str, int]]:
    """What is asked of a result, and what torch answers: the sizes and the rank of each tensor."""
    if isinstance(result, torch.Tensor):
        yield from ((f"{name}.shape[{index}]", size) for index, size in enumerate(result.shape))
        yield f"{name}.ndim", result.ndim
    elif isinstance(result, tuple):
        for index, part in enumerate(result):
            if isinstance(part, torch.Tensor):
                yield from sizes(f"{name}[{index}]", part)


def told(tmp_path: Path, layer: str, expression: str) -> str:
    """The verdict on a trace that is wrong if the shape is another one than torch's, or is not known."""
    names = {"torch": torch, "F": torch.nn.functional, "nn": torch.nn}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = eval(layer, names)
        made = made.eval() if made is not None else None
        owner = type("Owner", (), {"layer": staticmethod(made) if made is not None else None})
        result = eval(expression, {**names, "x": torch.rand(2, 3, 8), "self": owner})
    checks = "".join(CHECK.format(value=value, number=number) for value, number in sizes("y", result))
    path = tmp_path / "model.py"
    source = MODULE.format(layer=layer, expression=expression, checks=checks)
    path.write_text(source, encoding="utf-8")
    project = Project((tmp_path,))
    return judge(Program(project), find_target(project.module(path), "Net")).trace


@pytest.mark.parametrize("expression", OPERATIONS)
def test_shapes_of_operations(tmp_path: Path, expression: str) -> None:
    assert told(tmp_path, "None", expression) == "safe"


@pytest.mark.parametrize(("layer", "given"), LAYERS)
def test_shapes_of_layers(tmp_path: Path, layer: str, given: str) -> None:
    assert told(tmp_path, layer, f"self.layer({given})") == "safe"


@pytest.mark.parametrize("expression", ["x.nonzero()", "x[x > 0]", "x.unique()"])
def test_what_data_tells_is_not_known(tmp_path: Path, expression: str) -> None:
    assert told(tmp_path, "None", expression) == "hazardous"
