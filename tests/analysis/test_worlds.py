"""Worlds and the questions they answer: identity by origin, what one answer says of another, and words."""

from __future__ import annotations

import ast

import pytest

from tsguard.analysis import terms
from tsguard.analysis.terms import (
    NONE,
    Attribute,
    Compare,
    Converts,
    Element,
    Eq,
    Group,
    In,
    Is,
    IsInstance,
    Item,
    Literal,
    Named,
    Not,
    Operation,
    Parameter,
    Place,
    Term,
    Truth,
)
from tsguard.analysis.worlds import World

INIT, OTHER = "Net.__init__", "Part.__init__"
NORM = Parameter("norm", INIT)
SIZES = Parameter("sizes", INIT)
ONE, TRUE = Literal.of(1), Literal.of(True)


class TestIdentity:
    @pytest.mark.parametrize(
        ("one", "other"),
        [
            (NORM, Parameter("norm", OTHER)),
            (Parameter("training", INIT), Attribute(Named("self", "self"), "training")),
            (Item(SIZES, Literal.of(0)), Item(SIZES, Literal.of(1))),
            (Element(SIZES, 0), Element(SIZES, 1)),
            (Place(ast.parse("f()").body[0]), Place(ast.parse("f()").body[0])),
            (ONE, TRUE),
        ],
    )
    def test_what_has_another_origin_is_another_unknown(self, one: Term, other: Term):
        assert one != other
        world = World()
        assert world.decide(one, True)
        assert not world.decide(other, False)

    def test_what_has_one_origin_is_one_unknown(self):
        world = World()
        assert world.decide(Is(Attribute(NORM, "kind"), NONE), True)
        assert world.decide(Is(Attribute(NORM, "kind"), NONE), False)

    def test_the_opposite_of_a_question_is_no_other_question(self):
        world = World()
        assert world.decide(Not(NORM), True)
        assert not world.decide(NORM, True)
        assert world.answer(Not(Not(NORM))) is False
        assert list(world.answers) == [Truth(NORM)]


def classes(*names: str) -> Term:
    """What ``isinstance`` is asked for: ``tuple``, ``collections.abc.Iterable``, several at once."""
    items = [name if "." in name else f"builtins.{name}" for name in names]
    named = tuple(Named(name, name.rpartition(".")[2]) for name in items)
    return named[0] if len(named) == 1 else Group(named)


ITERABLE = "collections.abc.Iterable"


class TestWhatAnObjectIs:
    """One answer to ``isinstance`` tells others, as Python's classes derive from one another."""

    @pytest.mark.parametrize(
        ("known", "yes", "asked", "implied"),
        [
            (["tuple", "list"], True, [ITERABLE], True),
            (["tuple", "list"], True, ["int"], False),
            (["bool"], True, ["int"], True),
            ([ITERABLE], False, ["tuple", "list"], False),
            (["tuple", "list"], False, ["tuple"], False),
        ],
    )
    def test_it_follows_from_what_it_is_or_is_not(
        self, known: list[str], yes: bool, asked: list[str], implied: bool
    ):
        world = World()
        world.decide(IsInstance(SIZES, classes(*known)), yes)
        assert world.decide(IsInstance(SIZES, classes(*asked)), not implied) is implied

    @pytest.mark.parametrize(
        ("known", "yes", "asked"),
        [
            (["tuple", "list"], True, ["tuple"]),
            (["int"], False, ["bool", "str"]),
            ([ITERABLE], True, ["str"]),
            (["collections.abc.Callable"], True, ["int"]),
            (["company.Layer"], True, ["list"]),
        ],
    )
    def test_it_stays_open_where_either_may_be(self, known: list[str], yes: bool, asked: list[str]):
        for answer in (True, False):
            world = World()
            world.decide(IsInstance(SIZES, classes(*known)), yes)
            assert world.decide(IsInstance(SIZES, classes(*asked)), answer) is answer

    def test_of_another_object_it_says_nothing(self):
        world = World()
        world.decide(IsInstance(SIZES, classes("tuple")), True)
        assert not world.decide(IsInstance(NORM, classes(ITERABLE)), False)

    def test_a_tuple_is_not_none(self):
        world = World()
        world.decide(IsInstance(SIZES, classes("tuple")), True)
        assert not world.decide(Is(SIZES, NONE), True)

    def test_a_world_that_goes_on_from_another_knows_it_too(self):
        world = World()
        world.decide(IsInstance(SIZES, classes("tuple")), True)
        assert world.copy().decide(IsInstance(SIZES, classes(ITERABLE)), False)

    def test_what_a_run_found_to_be_its_default_holds_in_no_world_where_it_is_not(self):
        usual = World(listening=1)
        usual.known(SIZES)
        asked = IsInstance(SIZES, classes("int"))
        for is_int in (True, False):
            other = World({asked: is_int})
            other.decide(asked, True)
            assert other.agrees(usual.asked) is is_int


class TestImplications:
    def test_what_is_true_is_not_none(self):
        world = World()
        assert world.decide(NORM, True)
        assert not world.decide(Is(NORM, NONE), True)

    def test_none_is_not_true(self):
        world = World()
        assert world.decide(Is(NORM, NONE), True)
        assert not world.decide(NORM, True)
        assert world.known(NORM) == NONE

    @pytest.mark.parametrize("constant", [ONE, Group((ONE, Literal.of("a")))])
    def test_what_equals_a_constant_is_that_constant_and_no_other(self, constant: Term):
        world = World()
        assert world.decide(Eq(NORM, constant), True)
        assert world.known(NORM) == constant
        assert not world.decide(Eq(NORM, Literal.of("batch")), True)
        assert world.decide(Eq(NORM, constant), False)

    def test_what_equals_another_unknown_is_no_constant(self):
        world = World()
        assert world.decide(Eq(NORM, SIZES), True)
        assert world.known(NORM) is None

    def test_a_question_that_is_answered_by_no_fixes_nothing(self):
        world = World()
        assert not world.decide(Eq(NORM, ONE), False)
        assert world.known(NORM) is None


class TestAsking:
    def test_a_conversation_agrees_with_worlds_that_answer_alike(self):
        first = World(listening=1)
        first.decide(Is(NORM, NONE), True)
        first.known(NORM)
        assert World().agrees(first.asked)
        assert not World({Is(NORM, NONE): False}).agrees(first.asked)

    def test_guesses_are_told_from_what_defaults_decide(self):
        world = World()
        world.decide(NORM, True, guess=True)
        world.decide(SIZES, True)
        assert world.guessed == {Truth(NORM)}


def _place(text: str) -> Place:
    return Place(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize(
    ("question", "yes", "no"),
    [
        (Truth(NORM), "norm", "not norm"),
        (Is(NORM, NONE), "norm is None", "norm is not None"),
        (Eq(NORM, Literal.of("batch")), "norm == 'batch'", "norm != 'batch'"),
        (Eq(Element(SIZES, 0), Element(SIZES, 1)), "sizes[i] == sizes[j]", "sizes[i] != sizes[j]"),
        (Compare(SIZES, "<", ONE), "sizes < 1", "sizes >= 1"),
        (In(NORM, Group((ONE,))), "norm in (1,)", "norm not in (1,)"),
        (
            IsInstance(NORM, Named("builtins.int", "int")),
            "isinstance(norm, int)",
            "not isinstance(norm, int)",
        ),
        (Truth(_place("f(x)")), "f(x)", "not f(x)"),
        (Truth(_place("a or b")), "a or b", "not (a or b)"),
        (
            Eq(Operation(Operation(NORM, "+", ONE), "*", SIZES), ONE),
            "(norm + 1) * sizes == 1",
            "(norm + 1) * sizes != 1",
        ),
        (
            Converts(NORM),
            "norm is an object of a class that TorchScript compiles",
            "unless norm is an object of a class that TorchScript compiles",
        ),
    ],
)
def test_an_answer_is_worded_as_one_would_write_it(question: terms.Question, yes: str, no: str):
    assert terms.condition(question, True) == yes
    assert terms.condition(question, False) == no


def test_what_has_too_many_parts_is_known_by_its_place():
    node = ast.parse("x + x").body[0]
    term: Term = NORM
    for _ in range(100):
        grown = terms.bounded(Operation(term, "+", NORM), node)
        assert grown is not None
        term = grown
    assert sum(1 for _ in terms.parts(term)) <= 40
