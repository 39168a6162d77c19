"""The script verdict of a class whose arguments nobody gives."""

import textwrap
from pathlib import Path

import pytest

from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target


@pytest.mark.parametrize(
    ("parameter", "verdict"),
    [
        ("gain: float = 10", "blocked"),
        ("gain=10", "blocked"),
        ("gain: float = 10.0", "ok"),
        ("gain: float", "ok"),
        ("gain: int", "blocked"),
    ],
)
def test_a_whole_number_is_no_float_whatever_the_annotation_says(
    tmp_path: Path, parameter: str, verdict: str
) -> None:
    source = f"""
    import torch
    from torch import Tensor, nn

    def scaled(x: Tensor, gain: float) -> Tensor:
        return x * gain

    class Net(nn.Module):
        def __init__(self, {parameter}) -> None:
            super().__init__()
            self.gain = gain

        def forward(self, x: Tensor) -> Tensor:
            return scaled(x, self.gain)
    """
    path = tmp_path / "model.py"
    path.write_text(textwrap.dedent(source), encoding="utf-8")
    project = Project((tmp_path,))
    assert judge(Program(project), find_target(project.module(path), "Net")).script == verdict
