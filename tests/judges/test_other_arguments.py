"""What traces and modes come to with other constructor arguments than the defaults, as torch shows for each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.judges.test_guesses import differs_when_traced
from tests.rules.on_torch import load
from tests.torch_here import RELEASE
from tsguard.analysis.python import Program
from tsguard.judges.judgement import Judgement, judge
from tsguard.project import Project
from tsguard.project.targets import find_target

FILE = """\
import torch
from torch import nn


class Sum(nn.Module):
    def forward(self, x):
        return x * x.sum().item()


class Scaled(nn.Module):
    def __init__(self, power=1):
        super().__init__()
        self.power = power

    def forward(self, x):
        if self.power > 1:
            x = x * x.sum().item()
        return x


class Net(nn.Module):
    def __init__(self, {parameters}):
        super().__init__()
        {made}

    def forward(self, x):
        {body}
"""


def judged(folder: Path, parameters: str, made: str, body: str = "return self.part(x)") -> Judgement:
    lines = (text.replace("\n", "\n        ") for text in (made, body))
    text = FILE.format(parameters=parameters, **dict(zip(("made", "body"), lines, strict=True)))
    (folder / "net.py").write_text(text, encoding="utf-8")
    project = Project((folder,))
    return judge(Program(project, RELEASE), find_target(project.module(folder / "net.py"), "Net"))


def made(folder: Path, *args: object, **kwargs: object) -> Any:
    return load(str(folder / "net.py")).Net(*args, **kwargs)


MODES = {
    "a layer": (
        "norm=False",
        "self.part = nn.BatchNorm1d(9) if norm else nn.Identity()",
        {"norm": True},
        "norm",
    ),
    "a rate": ("rate=0.0", "self.part = nn.Dropout(rate)", {"rate": 0.5}, "rate > 0"),
    "a rate that is asked first": (
        "rate=0.0",
        "self.part = nn.Dropout(rate) if rate > 0.0 else nn.Identity()",
        {"rate": 0.5},
        "rate > 0.0",
    ),
    "by a name": (
        "kind='none'",
        "self.part = {'none': nn.Identity, 'drop': nn.Dropout}[kind]()",
        {"kind": "drop"},
        "kind == 'drop'",
    ),
    "of a layer's own argument": (
        "tracks=False",
        "self.part = nn.InstanceNorm1d(9, track_running_stats=tracks)",
        {"tracks": True},
        "tracks",
    ),
    "a hook": (
        "spectral=False",
        "wrap = nn.utils.spectral_norm if spectral else nn.utils.weight_norm\nself.part = wrap(nn.Linear(9, 9))",
        {"spectral": True},
        "spectral",
    ),
    "of two arguments": (
        "drops=False, deep=False",
        "self.part = nn.Sequential(nn.Dropout() if deep else nn.Identity()) if drops else nn.Identity()",
        {"drops": True, "deep": True},
        "drops and deep",
    ),
}


@pytest.mark.parametrize("case", MODES)
def test_a_mode_that_another_argument_brings_in(tmp_path: Path, case: str) -> None:
    parameters, constructed, other, when = MODES[case]
    found = judged(tmp_path, parameters, constructed)
    assert found.mode == "depends"
    assert {finding.when for finding in found.findings if finding.family == "mode"} == {when}
    assert differs_by_mode(made(tmp_path, **other))
    assert not differs_by_mode(made(tmp_path))


def differs_by_mode(net: Any) -> bool:
    return not torch.equal(net.eval()(torch.ones(9, 9)), net.train()(torch.ones(9, 9)))


TRACES = {
    "a layer": ("sums=False", "self.part = Sum() if sums else nn.ReLU()", "", {"sums": True}, "sums"),
    "a branch of forward": (
        "sums=False",
        "self.sums = sums",
        "if self.sums:\n    x = x * x.sum().item()\nreturn x",
        {"sums": True},
        "sums",
    ),
    "a number": ("power=1", "self.part = Scaled(power)", "", {"power": 2}, "power > 1"),
    "a text that the constructor asks, too": (
        "kind='a'",
        "self.kind = kind\nself.part = nn.ReLU() if kind == 'a' else nn.Tanh()",
        "return self.part(x) if self.kind == 'a' else self.part(x) * x.sum().item()",
        {"kind": "b"},
        "kind != 'a'",
    ),
    "one of two expressions": (
        "power=1",
        "self.power = power",
        "return x * x.sum().item() if self.power > 1 else x",
        {"power": 2},
        "power > 1",
    ),
    "beside others that change nothing": (
        "first=False, sums=False, last=False",
        "self.before = nn.Tanh() if first else nn.ReLU()\nself.part = Sum() if sums else nn.ReLU()\n"
        "self.after = nn.Tanh() if last else None",
        "x = self.part(self.before(x))\nif self.after is not None:\n    x = self.after(x)\nreturn x",
        {"sums": True},
        "sums",
    ),
    "that another keeps from being called": (
        "sums=False, skips=False",
        "self.part = Sum() if sums else nn.ReLU()\nself.skips = skips",
        "if self.skips:\n    return x\nreturn self.part(x)",
        {"sums": True},
        "sums",
    ),
    "two that do": (
        "first=False, last=False",
        "self.first, self.last = first, last",
        "if self.first:\n    x = x * x.sum().item()\nif self.last:\n    x = x * x.max().item()\nreturn x",
        {"last": True},
        "last",
    ),
}


@pytest.mark.parametrize("case", TRACES)
def test_a_trace_that_another_argument_makes_wrong(tmp_path: Path, case: str) -> None:
    parameters, constructed, body, other, when = TRACES[case]
    found = judged(tmp_path, parameters, constructed, body or "return self.part(x)")
    assert found.trace == "depends"
    hazards = [(f.severity, f.when) for f in found.findings if f.code == "TSG207"]
    assert ("warning", when) in hazards
    assert all(severity == "warning" for severity, _ in hazards)
    assert differs_when_traced(made(tmp_path, **other))
    assert not differs_when_traced(made(tmp_path))


HARMLESS = {
    "other layers": ("flag=False", "self.part = nn.Tanh() if flag else nn.ReLU()", "return self.part(x)"),
    "what the environment mostly is": (
        "",
        "self.part = Sum() if torch.xpu.is_available() else nn.ReLU()",
        "return self.part(x)",
    ),
    "arguments that contradict each other": (
        "kind='a'",
        "self.part = nn.Sequential(Sum() if kind == 'c' else nn.ReLU()) if kind == 'b' else nn.ReLU()",
        "return self.part(x)",
    ),
    "what cannot be made": (
        "flag=False",
        "if flag:\n    raise ValueError(flag)\nself.part = Sum() if flag else nn.ReLU()",
        "return self.part(x)",
    ),
    "what cannot be called": (
        "flag=False",
        "self.flag = flag",
        "if self.flag:\n    x = x * x.sum().item()\n    raise ValueError(self.flag)\nreturn x",
    ),
}


@pytest.mark.parametrize("case", HARMLESS)
def test_what_no_argument_brings_is_not_said_to_depend(tmp_path: Path, case: str) -> None:
    found = judged(tmp_path, *HARMLESS[case])
    assert (found.mode, found.trace) == ("independent", "safe")


def test_what_is_not_read_of_another_default_is_no_gap_of_the_defaults(tmp_path: Path) -> None:
    found = judged(tmp_path, "part=None", "self.part = nn.ReLU() if part is None else part")
    assert (found.mode, found.trace) == ("independent", "safe")


def test_a_number_that_is_not_its_default_is_of_the_same_type(tmp_path: Path) -> None:
    found = judged(
        tmp_path,
        "rate=0.0",
        "self.rate = rate",
        "return nn.functional.leaky_relu(x, self.rate) if self.rate > 0.0 else x",
    )
    assert found.script == "ok"
    torch.jit.script(made(tmp_path, 0.5))


def test_a_mode_error_that_only_some_arguments_bring_is_a_warning(tmp_path: Path) -> None:
    found = judged(
        tmp_path, "drops=False", "self.drops = drops", "return nn.functional.dropout(x) if self.drops else x"
    )
    [finding] = [finding for finding in found.findings if finding.family == "mode"]
    assert (finding.severity, finding.when) == ("warning", "drops")
    assert not torch.equal(made(tmp_path, True).eval()(torch.ones(9, 9)), torch.ones(9, 9))


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        ("if self.flag and x.sum() > 0:\n    x = x * 2\nreturn x", "unknown"),
        ("return x * 2 if self.flag else x", "exports"),
    ],
)
def test_an_export_that_another_argument_refuses_is_not_promised(
    tmp_path: Path, body: str, verdict: str
) -> None:
    judged(tmp_path, "flag=False", "self.flag = flag", body)
    project = Project((tmp_path,))
    program = Program(project, RELEASE, open_sizes=())
    found = judge(program, find_target(project.module(tmp_path / "net.py"), "Net"), "export")
    assert found.export.verdict == verdict
    assert [gap.why for gap in found.export.unknown] == ["torch.export refuses it when flag"] * (
        verdict == "unknown"
    )
    assert torch.export.export(made(tmp_path), (torch.ones(9, 9),))
    if verdict == "unknown":
        with pytest.raises(Exception, match="data-dependent"):
            torch.export.export(made(tmp_path, True), (torch.ones(9, 9),), strict=False)
