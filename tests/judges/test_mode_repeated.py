"""A call that showed nothing is followed once for what is alike, by one target and by others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsguard.analysis.mode import follow, repeated
from tsguard.analysis.python import Program
from tsguard.analysis.subjects import first_built
from tsguard.judges.mode import judge_mode
from tsguard.project import Project
from tsguard.project.targets import find_target

SOURCE = """\
import functools

import torch
import torch.nn.functional as F
from torch import nn

SEEN = []
TABLE = {{"a": 2}}
STEP = 1


class Plan:
    def __init__(self, text):
        self.parts = []
        for part in text.split("->"):
            self.parts.append(part.strip())


def asked(x, text="a -> b"):
{body}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("first", torch.zeros(1))
        self.register_buffer("second", torch.zeros(1))

    def forward(self, x):
        {forward}


class Other(Net):
    pass
"""
PLANS = """\
    plan = Plan(text)
    if len(plan.parts) > TABLE["a"]:
        raise ValueError(text)
    return x * len(plan.parts)
"""
TWICE = "return asked(asked(x))"


class Judged:
    """A source with one function ``asked``, and what is found of it."""

    def __init__(self, folder: Path, body: str, forward: str = TWICE) -> None:
        path = folder / "net.py"
        path.write_text(SOURCE.format(body=body, forward=forward), encoding="utf-8")
        self.program = Program(Project((folder,)))
        self.module = self.program.project.module(path)

    def verdict(self, name: str = "Net") -> str:
        return judge_mode(self.program, find_target(self.module, name)).verdict

    @property
    def followed(self) -> int:
        """How many runs of the function serve further calls."""
        kept = repeated.CALLS.of(self.program).items()
        return sum(len(calls) for (node, *_), calls in kept if getattr(node, "name", "") == "asked")

    def steps(self, name: str = "Net") -> int:
        """The steps that following a target takes."""
        target = find_target(self.module, name)
        built = first_built(self.program, target)
        assert built is not None
        before = built.world.spent
        with self.program.followed():
            follow(self.program, target, built.world, built.value)
        return built.world.spent - before


def test_a_call_is_followed_once_for_all_targets_and_its_steps_count_each_time(tmp_path):
    warm = Judged(tmp_path, PLANS)
    assert [warm.verdict(name) for name in ("Other", "Net", "Net")] == ["independent"] * 3
    assert warm.followed == 1
    assert warm.steps() == Judged(tmp_path, PLANS).steps()
    assert warm.steps() > 1.8 * Judged(tmp_path, PLANS, "return asked(x)").steps()


@pytest.mark.parametrize(
    "body",
    [
        "    SEEN.append(1)\n    return x * len(SEEN)\n",
        "    global STEP\n    STEP = STEP + 1\n    return x * STEP\n",
        "    asked.last = text\n    return x\n",
        "    return (lambda: x)\n",
    ],
)
def test_what_changes_more_than_its_own_or_returns_code_is_followed_each_time(tmp_path, body):
    made = Judged(tmp_path, body)
    made.verdict()
    assert made.followed == 0


@pytest.mark.parametrize(
    "body",
    ["    return F.dropout(x, 0.5)\n", "    return x + torch.rand(1)\n", "    return nn.Dropout(0.5)(x)\n"],
)
def test_what_shows_something_shows_it_for_each_target(tmp_path, body):
    made = Judged(tmp_path, body)
    assert [made.verdict(name) for name in ("Net", "Other", "Net")] == ["dependent"] * 3
    assert made.followed == 0


def test_a_container_that_has_changed_meanwhile_is_read_again(tmp_path):
    body = '    return F.dropout(x, 0.5) if "b" in TABLE else x\n'
    forward = 'x = asked(x)\n        TABLE["b"] = 1\n        return asked(x)'
    assert Judged(tmp_path, body, 'TABLE["b"] = 1\n        return asked(x)').verdict() == "dependent"
    assert Judged(tmp_path, body, forward).verdict() == "dependent"


def test_what_a_call_gives_back_is_what_it_was_given(tmp_path):
    body = "    return x\n"
    written = "asked(self.first)\n        asked(self.second).add_(1)\n        return x"
    made = Judged(tmp_path, body, written)
    assert made.verdict() == "dependent"
    assert made.followed == 1
    assert Judged(tmp_path, body, written.replace(".add_", ".add")).verdict() == "independent"


def test_each_call_makes_a_tensor_of_its_own(tmp_path):
    """``x * 2`` in one mode and ``-x * 2`` in the other are two results, though each call is like the other."""
    forward = "return asked(x) if self.training else asked(-x)"
    assert Judged(tmp_path, "    return x * 2\n", forward).verdict() == "dependent"
