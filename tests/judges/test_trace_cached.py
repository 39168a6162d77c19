"""A function under ``functools.lru_cache`` is followed once for arguments that only their origins tell apart."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tsguard.analysis.python import Program, calls
from tsguard.judges import Judgement, judge
from tsguard.project import Project
from tsguard.project.targets import find_target

NET = """\
import functools
import torch
from torch import nn
from a_package_that_nobody_has import shape_of


class Plan:
    def __init__(self, names):
        self.order = [name for name in names]


@functools.lru_cache(16)
def plan(names, size):
{body}


class Net(nn.Module):
    def forward(self, x, y):
        first = plan({names}, shape_of({first}))
        for turn in range(2):
            later = plan({names}, shape_of({second}))
            if len(later.order) > 2:
                x = x * float(x.shape[0])
            later.order.append("c")
        return x + y
"""
PLANS = """\
    if size != 3:
        raise ValueError("no plan")
    return Plan(names)
"""


def judged(folder: Path, followed: Counter[str], body: str = PLANS, **given: str) -> Judgement:
    file = folder / "net.py"
    file.write_text(NET.format(**{"body": body, "names": "('a', 'b')", "first": "x", "second": "x", **given}))
    program = Program(Project((folder,)))
    target = find_target(program.project.module(file), "Net")
    followed.clear()
    return judge(program, target)


@pytest.fixture
def followed(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each function is followed."""
    found: Counter[str] = Counter()
    run_body = calls.run_body

    def run(interp, function, *given):  # type: ignore[no-untyped-def]
        found[function.name] += not interp.is_plain and type(interp).__name__ == "ForwardTracer"
        return run_body(interp, function, *given)

    monkeypatch.setattr(calls, "run_body", run)
    return found


def test_it_is_followed_once_for_what_comes_from_one_input(tmp_path, followed):
    judged(tmp_path, followed)
    assert followed["plan"] == 1


@pytest.mark.parametrize(
    ("given", "times"),
    [
        pytest.param({"second": "y"}, 2, id="of another input"),
        pytest.param({"names": "[x]"}, 3, id="given what can be changed"),
        pytest.param({"body": "    return size\n"}, 3, id="gives what comes from an input"),
        pytest.param({"body": "    shape_of(0).sort()\n    return Plan(names)\n"}, 3, id="leaves a gap"),
    ],
)
def test_what_may_differ_is_followed_again(tmp_path, followed, given, times):
    judged(tmp_path, followed, **given)
    assert followed["plan"] == times


def test_what_is_done_to_one_result_is_not_seen_in_another(tmp_path, followed):
    once, twice = (judged(tmp_path, followed, second=second) for second in ("x", "y"))
    assert once.trace == twice.trace == "unknown"


def test_what_asks_nothing_is_followed_once_for_all_targets(tmp_path, followed):
    file = tmp_path / "net.py"
    net = NET.format(body="    return Plan(names)\n", names="('a', 'b')", first="x", second="x")
    file.write_text(net + net[net.index("class Net") :].replace("class Net", "class Other"))
    program = Program(Project((tmp_path,)))
    module = program.project.module(file)
    one, other = (judge(program, find_target(module, name)) for name in ("Net", "Other"))
    assert followed["plan"] == 1
    assert (one.trace, other.trace) == ("unknown", "unknown")
    alone = judge(Program(Project((tmp_path,))), find_target(module, "Other"))
    assert alone == other
