"""What `tsguard check` says of modules that are called in unusual ways is what torch does with them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.test_check import attempts, check, codes, target
from tsguard.report import Report
from tsguard.settings.config import Settings, TargetSettings

__all__ = ["check"]

Check = Callable[..., Report]

SOURCE = """\
import numpy as np
import torch
from torch import nn


class Lazy(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.LazyLinear(8)
        self.norm = nn.LazyBatchNorm1d()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.first(x))


class Double(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8).double()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x)


class Unfit(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(8, 16), nn.Linear(32, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.two(self.one(x))


class Misnamed(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * scale


class Teacher(nn.Module):
    def __init__(self):
        super().__init__()
        self.student, self.teacher = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.training:
            with torch.no_grad():
                for mine, its in zip(self.teacher.parameters(), self.student.parameters()):
                    mine.mul_(0.5).add_(its, alpha=0.5)
        return self.student(x) - self.teacher(x)


class InPlace(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x[:, 0] = 0
        return x


class Noisy(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.random = np.random.default_rng(0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x) + torch.from_numpy(self.random.standard_normal(8)).float()


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = nn.Conv2d(3, 4, 1)

    def forward(self, x: torch.Tensor, wanted=None) -> torch.Tensor:
        y = self.convolution(x)
        if self.training:
            assert wanted is not None and wanted["boxes"].sum() == 17
            return y - wanted["boxes"].mean()
        return y
"""


@pytest.fixture(autouse=True)
def source(folder: Path) -> None:
    (folder / "odd.py").write_text(SOURCE)


def said(report: Report, name: str) -> str:
    found = target(report, name).recommendation
    assert found is not None
    return found


@pytest.mark.parametrize("inputs", [(), ("torch.randn(4, 8)",)])
def test_lazy_layers_are_attempted_as_they_are_before_their_first_call(
    check: Check, inputs: tuple[str, ...]
) -> None:
    report = check("odd.py:Lazy", inputs=inputs, modes=("eval", "train"))
    for mode in ("eval", "train"):
        tried = attempts(report, "Lazy")
        assert [tried[f"{name} {mode}"] for name in ("eager", "script", "trace")] == [
            "ok",
            "failed",
            "failed",
        ]
    assert target(report, "Lazy").script.confirmed is True
    assert "First repair, for script: odd.py:9: LazyLinear is lazy" in said(report, "Lazy")


def test_inputs_are_of_the_dtype_of_the_parameters(check: Check) -> None:
    report = check("odd.py:Double")
    assert target(report, "Double").inputs == "--input 'torch.randn(2, 8, dtype=torch.float64)'"
    assert set(attempts(report, "Double").values()) == {"ok"}


@pytest.mark.parametrize("require", ["script", "either"])
def test_what_was_never_run_meets_no_requirement(check: Check, require: str) -> None:
    report = check("odd.py:Unfit", require=require)
    unmet = next(f for f in report.findings if f.code == "TSG906")
    assert "script compiles but was not run" in unmet.message
    assert "the nearest try ends in RuntimeError" in said(report, "Unfit")
    assert "works" not in said(report, "Unfit")


def test_what_no_inputs_would_help_is_at_fault_itself(check: Check) -> None:
    report = check("odd.py:Misnamed")
    assert "TSG909" in codes(report)
    assert said(report, "Misnamed").startswith("It fails when it is called: odd.py:")


def test_nothing_shows_whether_a_notebook_meets_a_requirement(check: Check, folder: Path) -> None:
    cell = {"cell_type": "code", "metadata": {}, "source": SOURCE, "outputs": [], "execution_count": 1}
    book = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "odd.ipynb").write_text(json.dumps(book))
    assert check("odd.ipynb").errors == ()
    assert "a notebook is linted only" in check("odd.ipynb", require="script").errors[0].message
    assert "a folder is linted only" in check(".", require="script").errors[0].message


def test_a_requirement_that_is_not_met_says_what_is_wrong(check: Check, folder: Path) -> None:
    source = (
        "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n"
        "    def forward(self, x, mask=None):\n"
        "        if mask is not None:\n            x = x * mask\n        return x + 1\n"
    )
    (folder / "masked.py").write_text(source)
    report = check("masked.py", require="script", inputs=("torch.ones(2)", "torch.ones(2)"))
    assert "script must work; script cannot be saved in eval" in next(
        f.message for f in report.findings if f.code == "TSG906"
    )
    told = next(f for f in report.findings if f.code == "TSG911")
    assert told.help is not None
    assert "Optional[Tensor]" in told.help


def test_a_parameter_that_a_call_changes_is_put_back(check: Check) -> None:
    report = check("odd.py:Teacher", modes=("eval", "train"))
    tried = attempts(report, "Teacher")
    assert tried["trace eval"] == "ok"
    assert "TSG911" not in codes(report)


def test_inputs_need_no_gradients_where_the_module_takes_none(check: Check) -> None:
    report = check("odd.py:InPlace", modes=("eval", "train"))
    assert set(attempts(report, "InPlace").values()) == {"ok"}


def test_nothing_equals_what_differs_from_call_to_call(check: Check) -> None:
    report = check("odd.py:Noisy")
    assert attempts(report, "Noisy")["trace eval"] == "diverged"
    assert "It works with trace" not in said(report, "Noisy")


def test_guessed_inputs_are_not_the_modules_fault(check: Check) -> None:
    report = check("odd.py:Detector", modes=("eval", "train"))
    assert "TSG909" not in codes(report)
    (message,) = (f.message for f in report.findings if f.code == "TSG908")
    assert message.startswith("odd.py:Detector ends in ")
    assert message.endswith(" in train, with the example inputs that were found")
    assert "It works with trace in eval; " in said(report, "Detector")
    assert "With the inputs that were guessed it fails in train on cpu: odd.py:" in said(report, "Detector")


def test_a_device_that_is_missing_keeps_no_other_back(check: Check) -> None:
    report = check("odd.py:InPlace", devices=("cpu", "cuda:7"))
    assert "no device cuda:7" in report.errors[0].message
    assert attempts(report, "InPlace")["script eval"] == "ok"


def test_what_is_given_goes_before_what_is_configured(check: Check, folder: Path) -> None:
    own = TargetSettings(inputs=("torch.ones(2, 9)",), modes=("train",), backends=("trace",), require="trace")
    settings = Settings(root=folder, cache=False, targets={"odd.py:Double": own})
    wanted = {
        "inputs": ("torch.ones(2, 8, dtype=torch.float64)",),
        "modes": ("eval",),
        "backends": ("script",),
        "require": "script",
    }
    given = check("odd.py:Double", settings=settings, given=frozenset(wanted), **wanted)
    assert attempts(given, "Double") == {"eager eval": "ok", "script eval": "ok"}
    assert "TSG906" not in codes(given)
    assert "eager eval" not in attempts(check("odd.py:Double", settings=settings), "Double")
