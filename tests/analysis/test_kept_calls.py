"""A function that sees nothing but its arguments runs once for arguments that are alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsguard.analysis.python import Program, PythonInterpreter, kept_calls
from tsguard.analysis.subjects import build
from tsguard.analysis.terms import Parameter
from tsguard.analysis.values import Const, ModuleValue, Unknown, Value
from tsguard.analysis.worlds import World
from tsguard.project import Project
from tsguard.project.targets import find_target

NET = """\
from torch import nn

STEP = 2
{before}

def distance(first, second):
{body}


class Net(nn.Module):
    def __init__(self, name="b"):
        super().__init__()
        self.twice = [distance("a", "abc"), distance("a", "abc")]
        self.other = distance("", "abcd")
"""
COUNTS = """\
    total = 0
    for i, letter in enumerate(second):
        total = max(total, i - len(first))
    return total
"""


def made(folder: Path, body: str, before: str = "") -> tuple[ModuleValue, PythonInterpreter]:
    file = folder / "net.py"
    file.write_text(NET.format(body=body, before=before))
    interp = PythonInterpreter(Program(Project((folder,))))
    module = build(interp, find_target(interp.program.project.module(file), "Net"))
    assert isinstance(module, ModuleValue)
    return module, interp


def calls_kept(program: Program) -> int:
    """How many runs of ``distance`` serve further calls."""
    kept = kept_calls.CALLS.of(program).items()
    return sum(len(calls) for (node, *_), calls in kept if node.name == "distance")


def numbers(module: ModuleValue) -> list[object]:
    twice, other = module.attributes["twice"], module.attributes["other"]
    return [value.value for value in (*twice.items, other) if isinstance(value, Const)]  # type: ignore[attr-defined]


def test_it_runs_once_for_equal_constants_and_counts_its_steps_each_time(tmp_path):
    module, interp = made(tmp_path, COUNTS)
    assert numbers(module) == [1, 1, 3]
    assert calls_kept(interp.program) == 2
    _, again = made(tmp_path, COUNTS.replace("max(total", "STEP + max(total"))
    assert calls_kept(again.program) == 0
    assert again.world.spent >= interp.world.spent


@pytest.mark.parametrize(
    ("body", "before"),
    [
        ("    return STEP + len(second)\n", ""),
        ("    return len(second)\n", "def len(text):\n    return 7\n"),
        ("    global STEP\n    STEP = 3\n    return 1\n", ""),
        ("    first.seen = True\n    return 1\n", ""),
        ("    return [second]\n", ""),
    ],
)
def test_what_reads_or_changes_more_or_gives_a_new_list_runs_each_time(tmp_path, body, before):
    _, interp = made(tmp_path, body, before)
    assert calls_kept(interp.program) == 0


def test_in_a_world_with_another_answer_it_runs_anew(tmp_path):
    file = tmp_path / "net.py"
    file.write_text("def pick(given):\n    return 1 if given else 2\n")
    program = Program(Project((tmp_path,)))
    given = Parameter("given", "pick")

    def picked(world: World) -> Value:
        interp = PythonInterpreter(program, world)
        scope = program.scope(program.project.module(file))
        function = interp.lookup("pick", scope)
        assert function is not None
        return interp.settled(interp.call(function, [Unknown(given)], {}, None))

    world = World()
    first = picked(world)
    question = next(iter(world.answers))
    other = picked(World({question: not world.answers[question]}))
    assert {value.value for value in (first, other) if isinstance(value, Const)} == {1, 2}
