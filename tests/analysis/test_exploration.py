"""Which worlds are run: each question that comes up is asked the other way, and told by its condition."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
import torch

from tsguard.analysis.budgets import SETTLED_WORLDS
from tsguard.analysis.exploration import Way, anywhere, elsewhere, explore, run_first
from tsguard.analysis.python import Program
from tsguard.analysis.terms import NONE, Compare, Eq, Is, Literal, Parameter
from tsguard.analysis.worlds import Answer, Impossible, World
from tsguard.judges.script import judge_script
from tsguard.project import Project
from tsguard.project.targets import find_target

INIT = "Net.__init__"
NORM, SIZES, KIND = (Parameter(name, INIT) for name in ("norm", "sizes", "kind"))
ONE = Literal.of(1)
KINDS = [Literal.of(kind) for kind in ("relu", "gelu", "tanh", "silu")]


def ways(found: list[tuple[Way | None, World, object]]) -> list[str]:
    return [str(way) for way, _, _ in found]


class TestExploring:
    def test_each_other_world_gives_one_question_the_other_answer(self):
        def run(world: World) -> tuple[bool, bool]:
            return world.decide(Is(NORM, NONE), True), world.decide(Compare(SIZES, ">", ONE), False)

        found = list(explore(run))
        assert [result for _, _, result in found] == [(True, False), (False, False), (True, True)]
        assert ways(found) == ["None", "norm is not None", "sizes > 1"]

    def test_what_only_another_world_asks_is_asked_the_other_way_there(self):
        def run(world: World) -> bool:
            return world.decide(NORM, False) and world.decide(SIZES, False)

        found = list(explore(run))
        assert ways(found) == ["None", "norm", "norm and sizes"]
        assert [result for _, _, result in found] == [False, False, True]

    def test_each_of_a_chain_of_questions_is_reached(self):
        def run(world: World) -> Literal:
            for kind in KINDS:
                if world.decide(Eq(KIND, kind), kind is KINDS[1]):
                    return kind
            raise Impossible

        found = list(explore(run))
        assert {result for _, _, result in found} == set(KINDS)
        assert ways(found)[1:] == ["kind == 'relu'", "kind == 'silu'", "kind == 'tanh'"]

    def test_what_has_many_values_waits_for_all_else(self):
        def run(world: World) -> bool:
            for kind in KINDS:
                world.decide(Eq(KIND, kind), False)
            return world.decide(Is(NORM, NONE), True)

        assert ways(list(explore(run)))[1:4] == ["kind == 'relu'", "norm is not None", "kind == 'gelu'"]

    def test_worlds_in_which_the_constructor_raises_are_passed_over(self):
        def run(world: World) -> bool:
            if world.decide(Is(NORM, NONE), True):
                raise Impossible
            return True

        assert ways(list(explore(run))) == ["None"]
        found = run_first(run, World())
        assert found is not None
        assert found[0].answers == {Is(NORM, NONE): False}

    def test_after_an_error_what_was_asked_last_gets_the_other_answer(self):
        def run(world: World) -> bool:
            world.decide(Is(NORM, NONE), True)
            world.decide(Compare(SIZES, ">", ONE), False)
            if world.decide(Is(NORM, NONE), True):
                raise Impossible
            return True

        found = run_first(run, World())
        assert found is not None
        assert found[0].answers == {Is(NORM, NONE): False, Compare(SIZES, ">", ONE): False}

    def test_all_is_asked_until_something_settles_it(self):
        many = [Parameter(f"p{i}", INIT) for i in range(40)]

        def run(world: World) -> bool:
            answers = [world.decide(parameter, False) for parameter in many]
            return any(answers)

        assert len(list(explore(run))) == 41
        assert len(list(explore(run, lambda *_: "settled"))) == 1 + SETTLED_WORLDS

    def test_what_is_refused_is_asked_for_what_it_guessed_until_one_world_is_not(self):
        many = [Parameter(f"p{i}", INIT) for i in range(40)]

        def run(world: World) -> list[bool]:
            by_default = world.decide(NORM, False)
            return [by_default, *(world.decide(parameter, False, guess=True) for parameter in many)]

        assert len(list(explore(run, lambda *_: "refused"))) == 1 + 40
        freed = ways(list(explore(run, lambda _, answers: "nothing" if answers[30] else "refused")))
        assert freed[-1] == "p29"


class TestWay:
    def test_what_a_later_answer_says_is_not_said_again(self):
        way = Way((Answer(Eq(KIND, KINDS[0]), False), Answer(Eq(KIND, KINDS[1]), True)))
        assert str(way) == "kind == 'gelu'"

    def test_elsewhere_is_the_contrary_of_all_that_was_turned(self):
        norm, sizes = Answer(Is(NORM, NONE), False), Answer(Compare(SIZES, ">", ONE), True)
        assert elsewhere([Way((norm,))]) == "norm is None"
        assert elsewhere([Way((norm, sizes))]) == "not (norm is not None and sizes > 1)"
        assert elsewhere([Way((norm,)), Way((sizes,)), Way((norm, sizes))]) == "norm is None and sizes <= 1"

    def test_anywhere_names_the_shortest_ways_and_what_leads_off_them(self):
        norm, sizes = Answer(Is(NORM, NONE), False), Answer(Compare(SIZES, ">", ONE), True)
        assert anywhere([Way((norm,)), Way((sizes,))]) == "norm is not None or sizes > 1"
        assert anywhere([Way((norm,)), Way((norm, sizes))]) == "norm is not None"
        assert anywhere([Way((norm,))], [Way((norm, sizes))]) == "norm is not None and sizes <= 1"


FILE = """\
from torch import nn


class Bad(nn.Module):
    def forward(self, x):
        return x.mean(keepdims=True)


class Made(nn.Module):
    def __init__(self, width=3, odd=False):
        super().__init__()
        self.part = Bad() if odd else nn.ReLU()

    def forward(self, x):
        return self.part(x)


class Net(nn.Module):
    def __init__({head}):
        super().__init__()
        self.part = nn.ReLU()
{body}

    def forward(self, x):
        return self.part(x)
"""
CHAIN = """\
if kind == "relu":
    self.part = nn.ReLU()
elif kind == "gelu":
    self.part = nn.GELU()
elif kind == "bad":
    self.part = Bad()
elif kind == "silu":
    self.part = nn.SiLU()
"""
RAISES = "else:\n    raise ValueError(kind)\n"
# A constructor's parameters and body; the condition; arguments that torch takes, and those that it refuses.
REFUSED_WHEN = {
    "one_of_a_chain": ("self, kind", CHAIN + RAISES, "kind == 'bad'", {"kind": "gelu"}, {"kind": "bad"}),
    "a_default": ("self, kind='gelu'", CHAIN + RAISES, "kind == 'bad'", {}, {"kind": "bad"}),
    "lower": (
        "self, kind='GELU'",
        "kind = kind.lower()\n" + CHAIN,
        "kind.lower() == 'bad'",
        {},
        {"kind": "Bad"},
    ),
    "within": (
        "self, deep=False, odd=False",
        "if deep:\n    if odd:\n        self.part = Bad()\n",
        "deep and odd",
        {"deep": True},
        {"deep": True, "odd": True},
    ),
    "of_many": (
        "self, " + ", ".join(f"p{i}=False" for i in range(30)),
        "".join(f"if p{i}:\n    self.a{i} = {i}\n" for i in range(29)) + "if p29:\n    self.part = Bad()\n",
        "p29",
        {},
        {"p29": True},
    ),
    "own_keywords": (
        "self, **kwargs",
        "self.part = Bad() if kwargs.get('odd', False) else nn.ReLU()\n",
        "kwargs['odd']",
        {},
        {"odd": True},
    ),
    "own_keywords_handed_on": (
        "self, **kwargs",
        "self.part = Made(**kwargs)\n",
        "kwargs['odd']",
        {"width": 2},
        {"odd": True},
    ),
    "own_keywords_at_all": (
        "self, **kwargs",
        "if kwargs:\n    self.part = Bad()\n",
        "kwargs",
        {},
        {"odd": 1},
    ),
    "a_star": ("self, sizes", "self.part = Made(*sizes)\n", "sizes[1]", {"sizes": [3]}, {"sizes": [3, True]}),
    "an_item_of_a_dict": (
        "self, kind='relu'",
        "self.part = {'relu': nn.ReLU(), 'bad': Bad(), 'gelu': nn.GELU()}[kind]\n",
        "kind == 'bad'",
        {"kind": "gelu"},
        {"kind": "bad"},
    ),
    "got_of_a_dict": (
        "self, kind='relu'",
        "self.part = {'relu': nn.ReLU, 'bad': Bad}.get(kind)()\n",
        "kind == 'bad'",
        {},
        {"kind": "bad"},
    ),
    "looked_up": (
        "self, config",
        "if config.get('odd', False):\n    self.part = Bad()\n",
        "config.get('odd', False)",
        {"config": {}},
        {"config": {"odd": True}},
    ),
}
# Constructors whose every argument torch takes.
TAKEN = {
    "no_keywords": ("self, **kwargs", "if kwargs:\n    raise TypeError\n", {}),
    "another_default": (
        "self, width, out=None",
        "out = out or width\nself.out = out\nself.part = nn.Linear(width, self.out)\n",
        {"width": 3, "out": 2},
    ),
    "declared": (
        "self, part: type = nn.Tanh",
        "self.part = part() if part is not None else Bad()\n",
        {"part": torch.nn.ELU},
    ),
    "an_item_of_a_table": (
        "self, kind",
        "table = {k: nn.ReLU for k in 'abcdefgh'}\nmade = table[kind]\nself.part = Bad() if made is None else nn.Tanh()\n",
        {"kind": "c"},
    ),
}


def written(tmp_path: Path, head: str, body: str) -> Path:
    path = tmp_path / "net.py"
    indented = "".join(f"        {line}\n" for line in body.splitlines())
    path.write_text(FILE.format(head=head, body=indented))
    return path


def judged(path: Path) -> tuple[str, set[str | None]]:
    project = Project((path.parent,))
    outcome = judge_script(Program(project, "2.13"), find_target(project.module(path), "Net"))
    return outcome.verdict, {when for _, when in outcome.events}


@pytest.mark.filterwarnings("ignore")
class TestJudged:
    @pytest.mark.parametrize("name", REFUSED_WHEN)
    def test_what_some_argument_makes_torch_refuse_is_no_ok(self, tmp_path: Path, name: str):
        head, body, when, taken, refused = REFUSED_WHEN[name]
        path = written(tmp_path, head, body)
        assert judged(path) == ("depends", {when})
        net = runpy.run_path(str(path))["Net"]
        torch.jit.script(net(**taken))
        with pytest.raises(RuntimeError):
            torch.jit.script(net(**refused))

    @pytest.mark.parametrize("name", TAKEN)
    def test_what_every_argument_makes_torch_take_is_ok(self, tmp_path: Path, name: str):
        head, body, taken = TAKEN[name]
        path = written(tmp_path, head, body)
        assert judged(path) == ("ok", set())
        torch.jit.script(runpy.run_path(str(path))["Net"](**taken))
