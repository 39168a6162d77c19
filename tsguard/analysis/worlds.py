"""Worlds: one consistent set of answers to what only constructor arguments decide.

The first world answers every question as the parameters' defaults do.  Each other
world gives one question the other answer.  What holds in every world is certain;
what holds in some ``depends``, and the answer that tells them apart is its condition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import field
from typing import Literal, NamedTuple

from tsguard.analysis import class_relations
from tsguard.analysis.budgets import CONSTRUCTION_STEPS
from tsguard.analysis.terms import (
    NONE,
    Compare,
    Eq,
    Group,
    In,
    Is,
    IsInstance,
    Question,
    Term,
    Truth,
    condition,
    is_constant,
    question,
)
from tsguard.report.records import dataclass


class Impossible(Exception):
    """This world's answers make the constructor raise: nothing follows from it."""


class Uncallable(Impossible):
    """What this world makes raises when it is called, by whatever answers: no other answer tells of it."""


class BudgetExceeded(Exception):
    """The analysis of a target has used up its budget of steps."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A question, and how a world answered it."""

    asked: Question
    yes: bool

    def __str__(self) -> str:
        return condition(self.asked, self.yes)


class Asked(NamedTuple):
    """What a world was asked, and its answer: a question and ``how`` it is answered by default, or
    the constant that a term has been fixed to, and whether it is of another class than its default
    (``answer``) or ``is_other`` than that at all.  Where it only ``is_looked_up`` what a question was
    answered before, ``is_other`` tells that it was not asked before."""

    term: Term
    answer: bool
    constant: Term | None
    how: tuple[bool, bool] | None = None
    is_other: bool = False
    is_looked_up: bool = False

    @property
    def is_decided(self) -> bool:
        """Whether nothing but the world tells the answer."""
        return self.how is not None

    @property
    def is_guessed(self) -> bool:
        """Whether no default tells the usual one, either."""
        return self.how is not None and self.how[1]


def terms_of(conversation: Iterable[Asked]) -> frozenset[Term]:
    """What was asked, whatever the answers."""
    return frozenset(one.term for one in conversation)


@dataclass(frozen=True, eq=False, slots=True)
class Work:
    """What is done once for all who want it: its ``own`` steps and the works ``within`` it, in order; done
    ``again`` it takes fewer."""

    own: int
    within: tuple[Work, ...]
    again: int


Manner = Literal["strict", "wary", "lenient"]
"""Where code raises, nothing follows from a strict world; in a wary one what a package's function returns is
unknown where it raises on what no constant decides; in a lenient one each statement that raises is passed over."""


@dataclass(slots=True)
class World:
    """Answers so far; ``given`` are those fixed from the start, ``guessed`` those that no
    parameter's default decides; of the ``manner`` hangs what becomes of code that raises.
    ``spent`` counts the steps of the runs in it, none of which goes beyond the ``limit``, ``asks`` how
    often they asked it; ``asked`` is what they asked it, in order, while somebody is ``listening``.
    ``followed`` is how often a question was asked right after another in one test, as those of ``a and b`` are,
    ``joined`` how many such tests are under way; one ``goes_on`` where the first statement below it is a test.
    ``done`` are the works that these steps count, which all worlds of one target share; ``works`` are
    those of the work that is going on, which took ``worked`` of the steps."""

    given: dict[Question, bool] = field(default_factory=dict)
    answers: dict[Question, bool] = field(default_factory=dict)
    guessed: set[Question] = field(default_factory=set)
    manner: Manner = "strict"
    limit: int = CONSTRUCTION_STEPS
    spent: int = 0
    asks: int = 0
    asked: list[Asked] = field(default_factory=list)
    listening: int = 0
    done: set[Work] = field(default_factory=set)
    works: list[Work] = field(default_factory=list)
    worked: int = 0
    _fixed: dict[Term, Term] = field(default_factory=dict)
    _classes: dict[Term, list[tuple[Term, bool]]] = field(default_factory=dict)
    _members: dict[Term, list[tuple[Group, bool]]] = field(default_factory=dict)
    _unusual: set[Term] = field(default_factory=set)
    _others: set[Term] = field(default_factory=set)
    _lately: dict[Question, None] = field(default_factory=dict)
    _last: Question | None = None
    goes_on: bool = False
    joined: int = 0
    followed: dict[tuple[Question, Question], int] = field(default_factory=dict)

    def decide(self, term: Term, answer_by_default: bool, *, guess: bool = False) -> bool:
        """This world's answer to whether a term is true, the same each time it is asked.

        ``guess`` tells that no default decides it.
        """
        asked, yes = question(term)
        how = (answer_by_default is yes, guess)
        answer = self._answer(asked, *how)
        self.asks += 1
        if self.listening:
            self.asked.append(Asked(asked, answer, None, how))
        return answer is yes

    def answer(self, term: Term) -> bool | None:
        """The answer that this world has given to whether a term is true; None before it was asked."""
        asked, yes = question(term)
        answer = self.answers.get(asked)
        if self.listening:
            self.asked.append(Asked(asked, answer is True, None, None, answer is None, True))
        return None if answer is None else answer is yes

    def given_answer(self, term: Term) -> bool | None:
        """The answer that this world had from the start to whether a term is true; None where it had none."""
        asked, yes = question(term)
        answer = self.given.get(asked)
        return None if answer is None else answer is yes

    def _answer(self, asked: Question, answer_by_default: bool, guess: bool) -> bool:
        answer = self.answers.get(asked)
        if answer is None:
            answer = self._implied(asked)
            if answer is None:
                answer = self.given.get(asked, answer_by_default)
                self.answers[asked] = answer
                if answer:
                    self._fix(asked)
                if answer is not answer_by_default and not guess:
                    self._is_other_than_default(asked)
                if isinstance(asked, IsInstance):
                    self._classes.setdefault(asked.subject, []).append((asked.cls, answer))
                    if answer is not answer_by_default:
                        self._unusual.add(asked.subject)
                if isinstance(asked, In) and isinstance(asked.container, Group):
                    self._members.setdefault(asked.item, []).append((asked.container, answer))
                if guess:
                    self.guessed.add(asked)
        self._lately.pop(asked, None)
        self._lately[asked] = None
        if self.joined:
            if self._last is not None:
                pair = (self._last, asked)
                self.followed[pair] = self.followed.get(pair, 0) + 1
            self._last = asked
        return answer

    @contextmanager
    def test(self) -> Iterator[None]:
        """A test of several questions, or one that goes on from the test above it."""
        if not self.joined and not self.goes_on:
            self._last = None
        self.goes_on = False
        self.joined += 1
        try:
            yield
        finally:
            self.joined -= 1

    def last_asked(self) -> Question | None:
        """What was asked last, for the first time or again, of that whose answer was not given."""
        return next((q for q in reversed(self._lately) if q in self.answers and q not in self.given), None)

    def known(self, term: Term) -> Term | None:
        """The constant that an answer has fixed a term to."""
        found = self._fixed.get(term) if self._fixed else None
        self.asks += 1
        if self.listening:
            self.asked.append(Asked(term, self.is_unusual(term), found, None, self.is_other(term)))
        return found

    def is_unusual(self, term: Term) -> bool:
        """Whether a term stands for something of another class than its default has."""
        return bool(self._unusual) and term in self._unusual

    def is_other(self, term: Term) -> bool:
        """Whether a term stands for something else than its default."""
        return bool(self._others) and term in self._others

    def _is_other_than_default(self, asked: Question) -> None:
        if isinstance(asked, (Is, Eq, Compare)):
            self._others.update(part for part in (asked.left, asked.right) if not is_constant(part))
        elif isinstance(asked, Truth):
            self._others.add(asked.subject)

    def _fix(self, asked: Question) -> None:
        """Remember what a question that is answered by yes says of its subject: None before a constant."""
        if isinstance(asked, Is) and asked.right == NONE:
            self._fixed[asked.left] = NONE
        elif isinstance(asked, Eq):
            for subject, constant in ((asked.left, asked.right), (asked.right, asked.left)):
                if is_constant(constant) and not is_constant(subject):
                    self._fixed.setdefault(subject, constant)

    @contextmanager
    def heard(self) -> Iterator[list[Asked]]:
        """Listen to what is asked meanwhile; it is there, each once and in order, when that is over."""
        begun, conversation = len(self.asked), list[Asked]()
        self.listening += 1
        try:
            yield conversation
        finally:
            self.listening -= 1
            conversation += dict.fromkeys(self.asked[begun:])
            if not self.listening:
                self.asked.clear()

    def agrees(self, conversation: Iterable[Asked]) -> bool:
        """Ask what a run in another world asked, until an answer differs: none does."""
        for asked in conversation:
            self.asks += 1
            if asked.is_looked_up:
                assert isinstance(asked.term, Question)
                answer = self.answers.get(asked.term)
                agrees = answer is (None if asked.is_other else asked.answer)
            elif asked.how is None:
                agrees = self._fixed.get(asked.term) == asked.constant
                agrees = agrees and self.is_unusual(asked.term) is asked.answer
                agrees = agrees and self.is_other(asked.term) is asked.is_other
            else:
                assert isinstance(asked.term, Question)
                agrees = self._answer(asked.term, *asked.how) == asked.answer
            if not agrees:
                return False
            if self.listening:
                self.asked.append(asked)
        return True

    def copy(self) -> World:
        """A world that goes on from here by itself."""
        other = World(dict(self.given), manner=self.manner, limit=self.limit, done=set(self.done))
        other.resume(self)
        return other

    def resume(self, other: World) -> None:
        """Go on from where another world that began like this one has come to."""
        self.answers, self.guessed, self.spent = dict(other.answers), set(other.guessed), other.spent
        self._fixed = dict(other._fixed)
        self._classes = {subject: list(answers) for subject, answers in other._classes.items()}
        self._members = {item: list(answers) for item, answers in other._members.items()}
        self._unusual = set(other._unusual)
        self._others = set(other._others)
        self._lately = dict(other._lately)
        self.followed = dict(other.followed)
        self.done |= other.done

    def _implied(self, asked: Question) -> bool | None:
        """What other answers say: None is not true, what is a constant is no other, a tuple is iterable."""
        if not self.answers:
            return None
        if isinstance(asked, IsInstance):
            return class_relations.implied(asked.cls, self._classes.get(asked.subject, ()))
        if isinstance(asked, Is) and asked.right == NONE:
            is_typed = any(
                yes and not class_relations.includes_none(cls)
                for cls, yes in self._classes.get(asked.left, ())
            )
            return False if is_typed or self.answers.get(question(asked.left)[0]) else None
        if isinstance(asked, Truth):
            return False if self.answers.get(Is(asked.subject, NONE)) else None
        if isinstance(asked, Eq) and is_constant(asked.right):
            fixed = self._fixed.get(asked.left)
            return self._implied_of_constant(asked) if fixed is None else fixed == asked.right
        if isinstance(asked, In) and isinstance(asked.container, Group):
            fixed = self._fixed.get(asked.item)
            is_told = fixed is not None and all(map(is_constant, asked.container.items))
            return fixed in asked.container.items if is_told else None
        return None

    def _implied_of_constant(self, asked: Eq) -> bool | None:
        """Whether something may equal a constant: not if it is in a tuple without it, or in none with it."""
        for group, is_in in self._members.get(asked.left, ()):
            if all(map(is_constant, group.items)) and (asked.right in group.items) is not is_in:
                return False
        return None
