"""Loops that are left by a branch on a size: what they do shows in few turns, and no more are taken."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
import torch

from tests.judges.test_trace_consequences import is_traced_right, verdict
from tsguard.analysis.python import Program, PythonInterpreter
from tsguard.analysis.subjects import built
from tsguard.analysis.trace.shapes.facts import Facts
from tsguard.analysis.trace.walk import TraceResult, trace_target
from tsguard.analysis.worlds import World
from tsguard.project import Project
from tsguard.project.targets import find_target

LEFT = {
    "by break": """\
        while True:
            if x.shape[-1] < 4:
                break
            x = x[..., ::2] * 2
        return x
    """,
    "by return": """\
        while True:
            if x.shape[-1] < 4:
                return x
            x = x[..., ::2] * 2
    """,
    "from a branch within a branch": """\
        while True:
            if x.dim() > 1:
                if x.shape[-1] < 4:
                    break
            x = x[..., ::2] * 2
        return x
    """,
    "each by itself": """\
        while True:
            while True:
                while True:
                    if x.shape[-1] < 4:
                        break
                    x = x[..., ::2] * 2
                if x.shape[0] < 4:
                    break
                x = x[::2]
            if x.shape[0] < 2:
                break
            x = x[1:]
        return x
    """,
}


def traced(tmp_path: Path, text: str) -> tuple[TraceResult, int]:
    """What one walk of ``f`` shows, and its steps."""
    path = tmp_path / "model.py"
    path.write_text("import torch\n" + text, encoding="utf-8")
    project = Project((tmp_path,))
    target = find_target(project.module(path), "f")
    interp = PythonInterpreter(Program(project), World())
    walk = trace_target(interp, target, built(interp, target), Facts(), "none", is_export=False)
    return walk, interp.world.spent


def source(body: str) -> str:
    return "def f(x: torch.Tensor):\n" + textwrap.indent(textwrap.dedent(body), "    ")


@pytest.mark.parametrize("name", LEFT)
def test_how_often_it_turns_is_baked(tmp_path: Path, name: str) -> None:
    text = source(LEFT[name])
    assert verdict(tmp_path, text) == "hazardous"
    assert not is_traced_right(tmp_path, text, torch.ones(16, 16), torch.ones(5, 5))


# Each counts to nine, though a branch in it, or the same loop in another call, is left open.
COUNTED = {
    "in another call": """
        def counted(most):
            turns = 0
            while True:
                if turns >= most:
                    return turns
                turns += 1

        def f(x: torch.Tensor):
            counted(x.shape[0])
            if counted(9) == 9:
                return x * 2
            return x * int(x.sum())
    """,
    "around another loop": """
        def f(x: torch.Tensor):
            turns = 0
            while True:
                for row in (1, 2, 3):
                    if x.shape[0] == row:
                        break
                turns += 1
                if turns == 9:
                    break
            if turns == 9:
                return x * 2
            return x * int(x.sum())
    """,
}


@pytest.mark.parametrize("name", COUNTED)
def test_what_is_told_is_counted(tmp_path: Path, name: str) -> None:
    walk, _ = traced(tmp_path, textwrap.dedent(COUNTED[name]))
    rules = {event.rule for event in walk.events}
    assert "size-condition" in rules
    assert not any(rule.startswith("tensor-to-number") for rule in rules)


@pytest.mark.parametrize("name", LEFT)
def test_few_turns_are_enough(tmp_path: Path, name: str) -> None:
    assert traced(tmp_path, source(LEFT[name]))[1] < 4_000
