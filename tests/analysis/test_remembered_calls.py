"""A function that gets what it got before runs once, unless somebody could tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsguard.analysis.python import Program, PythonInterpreter, remembered_calls
from tsguard.analysis.subjects import build
from tsguard.analysis.terms import Parameter
from tsguard.analysis.values import Const, ListValue, ModuleValue, Unknown, Value
from tsguard.analysis.worlds import World
from tsguard.project import Project
from tsguard.project.targets import find_target

NET = """\
from torch import nn

STEP = 2
SEEN = []
TABLE = {{"a": 1}}


class Counter:
    def __init__(self):
        self.count = 0


COUNTER = LAST = Counter()
HELD = {{"counter": Counter()}}


def seen():
    SEEN.append(1)


def count(first, second):
{body}


class Net(nn.Module):
    def __init__(self, name="b"):
        super().__init__()
        given = {given}
        self.found = [count(given, "abc"), count(given, "abc"), count("", "abcd")]
{rest}
"""
COUNTS = """\
    total = 0
    for i, letter in enumerate(second):
        total = max(total, i - len(first))
    return total
"""


def made(
    folder: Path, body: str, given: str = '"a"', rest: str = "        pass\n"
) -> tuple[ModuleValue, PythonInterpreter]:
    file = folder / "net.py"
    file.write_text(NET.format(body=body, given=given, rest=rest))
    interp = PythonInterpreter(Program(Project((folder,))))
    module = build(interp, find_target(interp.program.project.module(file), "Net"))
    assert isinstance(module, ModuleValue)
    return module, interp


def runs(program: Program) -> int:
    """How many runs of ``count`` serve further calls."""
    kept = remembered_calls.CALLS.of(program).items()
    return sum(len(calls) for (node, _), calls in kept if getattr(node, "name", "") == "count")


def numbers(module: ModuleValue) -> list[object]:
    found = module.attributes["found"]
    assert isinstance(found, ListValue)
    return [value.value for value in found.items if isinstance(value, Const)]


def test_it_runs_once_for_equal_arguments_and_counts_its_steps_each_time(tmp_path):
    module, interp = made(tmp_path, COUNTS)
    assert numbers(module) == [1, 1, 3]
    assert runs(interp.program) == 2
    one_less = made(tmp_path, COUNTS, rest='        count(given, "abc")\n')[1]
    steps = one_less.world.spent - interp.world.spent
    assert steps > 30  # those of a run, and not of asking for one


def test_what_a_module_defines_is_the_same_each_time(tmp_path):
    module, interp = made(tmp_path, '    return STEP + TABLE["a"] + COUNTER.count + len(second)\n')
    assert numbers(module) == [6, 6, 7]
    assert runs(interp.program) == 2


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("    global STEP\n    STEP += 1\n    return STEP\n", [3, 4, 5]),
        ("    COUNTER.count += 1\n    return COUNTER.count\n", [1, 2, 3]),
        ("    Counter.total = getattr(Counter, 'total', 0) + 1\n    return Counter.total\n", [1, 2, 3]),
    ],
    ids=["global", "object", "class"],
)
def test_what_it_has_changed_it_finds_changed(tmp_path, body, found):
    assert numbers(made(tmp_path, body)[0]) == found


@pytest.mark.parametrize(
    "body",
    ["    SEEN.append(second)\n    return [*SEEN]\n", "    seen()\n    return [*SEEN]\n"],
    ids=["itself", "by a callee"],
)
def test_what_it_has_put_into_a_list_it_finds_there(tmp_path, body):
    found = made(tmp_path, body)[0].attributes["found"]
    assert isinstance(found, ListValue)
    assert [len(part.items) for part in found.items if isinstance(part, ListValue)] == [1, 2, 3]


def test_what_it_has_changed_is_changed_for_others_too_where_it_did_not_run(tmp_path):
    body = "    global STEP\n    STEP = len(second)\n    SEEN.append(second)\n    return 0\n"
    rest = "        self.step, self.seen = STEP, [*SEEN]\n"
    module, interp = made(tmp_path, body, rest=rest)
    assert runs(interp.program) == 3
    interp.program.put_back()
    file = tmp_path / "net.py"
    again = PythonInterpreter(interp.program)
    twin = build(again, find_target(interp.program.project.module(file), "Net"))
    assert runs(interp.program) == 3  # none of them ran
    assert isinstance(twin, ModuleValue)
    for net in (module, twin):
        step, seen = net.attributes["step"], net.attributes["seen"]
        assert isinstance(step, Const)
        assert isinstance(seen, ListValue)
        assert (step.value, len(seen.items)) == (4, 3)


@pytest.mark.parametrize(
    "body", ["    return [second]\n", "    return SEEN\n", "    return (SEEN, second)\n"]
)
def test_what_can_be_changed_is_given_by_a_run_of_its_own(tmp_path, body):
    module, interp = made(tmp_path, body)
    assert runs(interp.program) == 0
    found = module.attributes["found"]
    assert isinstance(found, ListValue)
    lists = {id(part) for part in found.items if isinstance(part, ListValue)}
    assert len(lists) == {"[": 3, "S": 1, "(": 0}[body.split()[1][0]]


def test_an_object_that_a_function_looks_up_is_one_for_all(tmp_path):
    body = '    return HELD["counter"]\n'
    rest = "        self.found[0].count = 4\n        self.total = count(given, 'abc').count\n"
    module, _ = made(tmp_path, body, rest=rest)
    total = module.attributes["total"]
    assert isinstance(total, Const)
    assert total.value == 4


def test_what_was_there_before_is_not_put_elsewhere_as_a_copy(tmp_path):
    body = "    global LAST\n    LAST = COUNTER\n    return 0\n"
    rest = "        COUNTER.count += 1\n        self.total = LAST.count\n"
    module, interp = made(tmp_path, body, rest=rest)
    assert runs(interp.program) == 0
    total = module.attributes["total"]
    assert isinstance(total, Const)
    assert total.value == 1


def test_a_list_that_is_given_is_changed_each_time(tmp_path):
    body = "    if first:\n        first.append(second)\n    return len(first)\n"
    assert numbers(made(tmp_path, body, given="[0]")[0]) == [2, 3, 0]


def test_it_raises_each_time(tmp_path):
    body = "    if first:\n        raise KeyError(second)\n    return 1\n"
    rest = "        try:\n            count(given, 'abc')\n        except KeyError:\n            self.is_caught = True\n"
    module, _ = made(tmp_path, body, given='""', rest=rest.replace("given", "'a'") * 2)
    caught = module.attributes["is_caught"]
    assert isinstance(caught, Const)
    assert caught.value is True


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
