"""A hazard that only some constructor arguments bring says which."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.judges.test_guesses import differs_when_traced
from tests.rules.on_torch import load
from tests.torch_here import RELEASE
from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

SOURCE = """\
import torch
from torch import nn


class Sum(nn.Module):
    def forward(self, x):
        return x * x.sum().item()


class Net(nn.Module):
    def __init__(self, {parameters}):
        super().__init__()
        {made}

    def forward(self, x):
        {body}
"""
KEPT = "self.flag, self.part = flag, Sum()"
ITEM = "x * x.sum().item()"


@pytest.fixture
def conditions(tmp_path: Path):
    def run(body: str, made: str = KEPT, parameters: str = "flag") -> list[tuple[str, str | None]]:
        text = SOURCE.format(parameters=parameters, made=made, body=body.replace("\n", "\n        "))
        (tmp_path / "net.py").write_text(text, encoding="utf-8")
        project = Project((tmp_path,))
        target = find_target(project.module(tmp_path / "net.py"), "Net")
        found = judge(Program(project, RELEASE), target)
        hazards = [f.when for f in found.findings if f.code == "TSG207"]
        assert found.trace == ("depends" if all(hazards) else "hazardous")
        assert all(f.severity == "info" for f in found.findings if f.code == "TSG237")
        return [(f.severity, f.when) for f in found.findings if f.code == "TSG207"]

    return run


@pytest.mark.parametrize(
    ("body", "when"),
    [
        pytest.param(f"return {ITEM} if self.flag else x", "flag", id="in an expression"),
        pytest.param(f"return x if self.flag else {ITEM}", "not flag", id="the other way"),
        pytest.param(f"if self.flag:\n    x = {ITEM}\nreturn x", "flag", id="in a branch"),
        pytest.param(f"if not self.flag:\n    return x\nreturn {ITEM}", "flag", id="behind a return"),
        pytest.param(f"if self.flag > 3:\n    pass\nelse:\n    x = {ITEM}\nreturn x", "flag <= 3", id="else"),
        pytest.param("if self.flag:\n    x = self.part(x)\nreturn x", "flag", id="of a part"),
        pytest.param("if self.flag:\n    x = self.part(x)\nreturn self.part(x)", None, id="in any case"),
        pytest.param(
            "y = self.part(x) if self.flag else x\nif self.flag:\n    return self.part(x)\nelse:\n    return self.part(x)",
            None,
            id="either way",
        ),
        pytest.param("if x.shape[0] > 3:\n    x = self.part(x)\nreturn x", None, id="by a size"),
    ],
)
def test_what_the_forward_asks(conditions, tmp_path: Path, body: str, when: str | None) -> None:
    assert conditions(body) == [("warning" if when else "error", when)]
    made = load(str(tmp_path / "net.py")).Net
    for flag in (0, 5) if when else ():
        assert differs_when_traced(made(flag)) == eval(
            when or "", {"flag": bool(flag) if when == "flag" else flag}
        )


def test_a_branch_that_another_answer_rules_out_is_not_run(conditions) -> None:
    body = f"if self.flag:\n    x = self.part(x)\n    if not self.flag:\n        x = {ITEM}\nreturn x"
    assert conditions(body) == [("warning", "flag")]
    body = f"if self.flag:\n    return self.part(x)\nif self.flag:\n    x = {ITEM}\nreturn x"
    assert conditions(body) == [("warning", "flag")]


def test_what_the_constructor_asks(conditions) -> None:
    made = "self.part = Sum() if flag else nn.ReLU()"
    assert conditions("return self.part(x)", made) == [("warning", "flag")]
    assert conditions("return self.part(x)", made, "flag=True") == [("error", None)]
    made = "self.part = Sum() if flag else nn.Sequential(nn.ReLU(), Sum())"
    assert conditions("return self.part(x)", made) == [("error", None)]


def test_both(conditions) -> None:
    made = "self.other = other\n        self.part = Sum() if flag else nn.ReLU()"
    found = conditions("if self.other:\n    x = self.part(x)\nreturn x", made, "flag, other")
    assert found == [("warning", "flag and other")]


def test_a_note_stays_a_note(conditions) -> None:
    [hazard] = conditions("if self.flag:\n    assert x.shape[0] > 3\nreturn self.part(x)")
    assert hazard == ("error", None)
    [hazard] = conditions("if self.flag:\n    x = self.part(x)\n    assert x.shape[0] > 3\nreturn x")
    assert hazard == ("warning", "flag")
