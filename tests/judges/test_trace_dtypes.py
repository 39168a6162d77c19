"""Questions that the dtype alone answers: a trace keeps the answer, which is right for inputs of that dtype."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsguard.analysis.python import Program
from tsguard.judges.judgement import Judgement, judge
from tsguard.project import Project
from tsguard.project.targets import find_target

FILE = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        return x * 2 if {question} else x + 1
"""


def judged(tmp_path: Path, question: str) -> Judgement:
    path = tmp_path / "net.py"
    path.write_text(FILE.format(question=question))
    project = Project((tmp_path,))
    return judge(Program(project, "2.13"), find_target(project.module(path), "Net"))


@pytest.mark.parametrize(
    "question",
    [
        *("torch.is_complex(x)", "torch.is_floating_point(input=x)", "torch.is_signed(x)"),
        *("x.is_complex()", "x.is_floating_point()", "x.dtype == torch.half"),
    ],
)
def test_a_branch_on_the_dtype_is_a_note(tmp_path: Path, question: str) -> None:
    judgement = judged(tmp_path, question)

    notes = [finding for finding in judgement.findings if finding.code == "TSG230"]
    assert judgement.trace == "safe"
    assert [note.message.endswith("correct for inputs of the example's dtype") for note in notes] == [True]


def test_a_branch_on_a_value_is_a_hazard(tmp_path: Path) -> None:
    assert judged(tmp_path, "torch.is_nonzero(x.sum())").trace == "hazardous"


@pytest.mark.parametrize(
    "question", ["is_quantized", "is_sparse", "is_nested", "is_mkldnn", "is_xpu", "is_cuda"]
)
def test_an_example_is_a_dense_tensor_of_the_cpu(tmp_path: Path, question: str) -> None:
    path = tmp_path / "net.py"
    path.write_text(FILE.format(question=f"x.{question}").replace("x * 2", "x * x.mean().item()"))
    project = Project((tmp_path,))
    assert judge(Program(project, "2.13"), find_target(project.module(path), "Net")).trace == "safe"
