"""An argument that has no default is guessed: no promise rests on the guess where it decides which modules are made."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.rules.on_torch import load
from tsguard.analysis.python import Program
from tsguard.judges.judgement import Judgement, judge
from tsguard.project import Project
from tsguard.project.targets import find_target

SOURCE = """\
import contextvars

import torch
from torch import nn
{imports}

RATES = contextvars.ContextVar("RATES", default=False)


class Sum(nn.Module):
    def forward(self, x):
        return x * x.sum().item()


class Net(nn.Module):
    def __init__(self{parameters}):
        super().__init__()
        self.layer = {layer}

    def forward(self, x):
        return self.layer(x)
"""


def judged(
    tmp_path: Path, layer: str, parameters: str = ", flag", target: str = "Net", imports: str = ""
) -> Judgement:
    path = tmp_path / "model.py"
    path.write_text(SOURCE.format(layer=layer, parameters=parameters, imports=imports), encoding="utf-8")
    project = Project((tmp_path,))
    return judge(Program(project), find_target(project.module(path), target))


@pytest.mark.parametrize(
    ("layer", "mode", "trace"),
    [
        ("nn.ReLU() if flag else nn.Dropout()", "depends", "safe"),
        ("nn.Dropout() if flag else nn.ReLU()", "depends", "safe"),
        ("nn.ReLU() if flag else Sum()", "independent", "depends"),
        ("Sum() if flag else nn.ReLU()", "independent", "depends"),
        ("nn.ReLU() if flag else nn.Tanh()", "independent", "safe"),
        (
            "nn.Sequential(nn.ReLU()) if flag else nn.Sequential(nn.ReLU(), nn.Dropout(0.0))",
            "independent",
            "safe",
        ),
    ],
)
def test_what_a_required_argument_decides_is_not_promised(
    tmp_path: Path, layer: str, mode: str, trace: str
) -> None:
    found = judged(tmp_path, layer)
    assert (found.mode, found.trace) == (mode, trace)

    module = load(str(tmp_path / "model.py"))
    nets = [module.Net(flag) for flag in (True, False)]
    assert list(map(depends_on_the_mode, nets)).count(True) == (mode == "depends")
    assert list(map(differs_when_traced, nets)).count(True) == (trace == "depends")


def depends_on_the_mode(net: Any) -> bool:
    torch.manual_seed(0)
    return not torch.equal(net.train()(torch.ones(9, 9)), net.eval()(torch.ones(9, 9)))


def differs_when_traced(net: Any) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        traced = torch.jit.trace(net.eval(), torch.ones(9, 9))
    return not torch.equal(traced(torch.full((9, 9), 2.0)), net(torch.full((9, 9), 2.0)))


def test_the_condition_is_told(tmp_path: Path) -> None:
    [dropout] = judged(tmp_path, "nn.ReLU() if flag else nn.Dropout()").findings
    assert (dropout.code, dropout.when) == ("TSG301", "not flag")
    [item] = judged(tmp_path, "nn.ReLU() if flag else Sum()").findings
    assert (item.code, item.severity, item.when) == ("TSG207", "warning", "not flag")


def test_what_is_given_is_no_guess(tmp_path: Path) -> None:
    found = judged(tmp_path, "nn.ReLU() if flag else nn.Dropout()", target="Net(flag=True)")
    assert found.mode == "independent"


def test_a_default_is_no_promise_of_other_arguments(tmp_path: Path) -> None:
    assert judged(tmp_path, "nn.ReLU() if flag else nn.Dropout()", ", flag=True").mode == "depends"
    assert judged(tmp_path, "nn.Dropout() if flag else nn.ReLU()", ", flag=True").mode == "dependent"
    assert judged(tmp_path, "nn.ReLU() if flag else Sum()", ", flag=True").trace == "depends"
    assert judged(tmp_path, "Sum() if flag else nn.ReLU()", ", flag=True").trace == "hazardous"


def test_neither_is_promised_what_only_the_run_tells(tmp_path: Path) -> None:
    assert judged(tmp_path, "nn.ReLU() if RATES.get() else nn.Dropout()", "").mode == "unknown"


def test_what_was_not_read_of_the_other_module_is_not_promised(tmp_path: Path) -> None:
    found = judged(tmp_path, "nn.ReLU() if flag else layers.Part()", imports="import foolib as layers")
    assert (found.script, found.mode, found.trace) == ("unknown", "unknown", "unknown")


REFUSED = """
import torch
from torch import nn


class Refused(nn.Module):
    def forward(self, x):
        return (lambda part: part * 2)(x)


class Net(nn.Module):
    def __init__(self, {parameter}):
        super().__init__()
        counted = 0
        for i in range(60):
            for j in range(60):
                counted = counted + i * j
        self.part = Refused() if {condition} else nn.ReLU()

    def forward(self, x):
        return self.part(x)
"""


@pytest.mark.parametrize(
    ("parameter", "condition", "verdict"),
    [
        ("flag", "flag", "depends"),
        ("width", "width > 3", "depends"),
        ("flag=True", "flag", "blocked"),
        ("flag", "flag or not flag", "blocked"),
    ],
)
def test_a_refusal_that_rests_on_a_guess_is_not_said_to_be_always(
    tmp_path: Path, parameter: str, condition: str, verdict: str
) -> None:
    path = tmp_path / "model.py"
    path.write_text(REFUSED.format(parameter=parameter, condition=condition), encoding="utf-8")
    program = Program(Project((tmp_path,)))
    assert judge(program, find_target(program.project.module(path), "Net")).script == verdict


LARGE = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, flag):
        super().__init__()
        self.part = nn.ReLU()
        if not flag:
            counted = 0
            for i in range(60):
                for j in range(60):
                    counted = counted + i * j
            self.counted = counted
            self.part = nn.Dropout()

    def forward(self, x):
        doubled = lambda part: part * 2
        return self.part(doubled(x))
"""


def test_what_takes_one_judge_too_many_steps_is_looked_at_by_the_others(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(LARGE, encoding="utf-8")
    project = Project((tmp_path,))
    found = judge(Program(project), find_target(project.module(path), "Net"))
    assert (found.script, found.mode) == ("blocked", "depends")

    module = load(str(path))
    for flag in (True, False):
        with pytest.raises(Exception, match=r"[Ll]ambda"):
            torch.jit.script(module.Net(flag))
    assert depends_on_the_mode(module.Net(False))


def test_what_is_too_large_to_be_made_is_not_promised(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(LARGE.replace("i * j", "sum([k * k for k in range(60)])"), encoding="utf-8")
    project = Project((tmp_path,))
    found = judge(Program(project), find_target(project.module(path), "Net"))
    assert (found.mode, found.trace) == ("unknown", "unknown")
    assert [gap.why for gap in found.mode_unknown] == ["it is too large to be analysed completely"]
    assert depends_on_the_mode(load(str(path)).Net(False))
