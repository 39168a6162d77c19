"""Worlds: one consistent set of answers to what only constructor arguments decide.

The first world answers every question as the parameters' defaults do.  Each other
world gives one question the other answer.  What holds in every world is certain;
what holds in some ``depends``, and the answer that tells them apart is its condition.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

T = TypeVar("T")

_ALLOWANCE = 4_000


class Impossible(Exception):
    """This world's answers make the constructor raise: nothing follows from it."""


class Exhausted(Exception):
    """The analysis of a target has used up its budget of steps."""


@dataclass(frozen=True, slots=True)
class Question:
    """A condition in the words of the source, and how this world answered it."""

    label: str
    answer: bool

    def __str__(self) -> str:
        return self.label if self.answer else negated(self.label)


class Asked(NamedTuple):
    """What a world was asked, and its answer: a question and ``how`` it is answered by default, or
    what a label stands for (its ``text``)."""

    label: str
    answer: bool
    text: str
    how: tuple[bool, bool] | None = None


@dataclass(slots=True)
class World:
    """Answers so far; ``given`` are those fixed from the start, ``guessed`` those that no
    parameter's default decides.  In a ``lenient`` world code that raises is passed over.
    ``spent`` counts the steps of the runs in it, ``asked`` is what they asked it, in order."""

    given: dict[str, bool] = field(default_factory=dict)
    answers: dict[str, bool] = field(default_factory=dict)
    guessed: set[str] = field(default_factory=set)
    lenient: bool = False
    spent: int = 0
    asked: list[Asked] = field(default_factory=list)
    _fixed: dict[str, str] = field(default_factory=dict)

    def decide(self, label: str, answer_by_default: bool, *, guess: bool = False) -> bool:
        """This world's answer to a question, the same each time it is asked.

        ``guess`` tells that no default decides it.
        """
        answer = self._answer(label, answer_by_default, guess)
        self.asked.append(Asked(label, answer, "", (answer_by_default, guess)))
        return answer

    def _answer(self, label: str, answer_by_default: bool, guess: bool) -> bool:
        answer = self.answers.get(label)
        if answer is None:
            answer = self._implied(label)
            if answer is None:
                answer = self.given.get(label, answer_by_default)
                self.answers[label] = answer
                if answer:
                    self._fix(label)
                if guess:
                    self.guessed.add(label)
        return answer

    def known(self, label: str) -> tuple[bool, str]:
        """Whether an equality has fixed what a label stands for, and the constant's text."""
        found = self._known(label)
        self.asked.append(Asked(label, *found))
        return found

    def _known(self, label: str) -> tuple[bool, str]:
        text = self._fixed.get(label)
        return (False, "") if text is None else (True, text)

    def _fix(self, label: str) -> None:
        """Remember what a question that is answered by yes says of its subject: None before a constant."""
        if label.endswith(" is None"):
            self._fixed[label.removesuffix(" is None")] = "None"
        position = label.find(" == ")
        while position >= 0:
            self._fixed.setdefault(label[:position], label[position + 4 :])
            position = label.find(" == ", position + 1)

    def agrees(self, conversation: Iterable[Asked]) -> bool:
        """Ask what a run in another world asked, until an answer differs: none does."""
        for asked in conversation:
            if asked.how is None:
                agrees = self._known(asked.label) == (asked.answer, asked.text)
            else:
                agrees = self._answer(asked.label, *asked.how) == asked.answer
            if not agrees:
                return False
            self.asked.append(asked)
        return True

    def copy(self) -> World:
        """A world that goes on from here by itself."""
        other = World(dict(self.given), lenient=self.lenient)
        other.resume(self)
        return other

    def resume(self, other: World) -> None:
        """Go on from where another world that began like this one has come to."""
        self.answers, self.guessed, self.spent = dict(other.answers), set(other.guessed), other.spent
        self._fixed = dict(other._fixed)

    def _implied(self, label: str) -> bool | None:
        subject, _, none = label.rpartition(" is None")
        if subject and not none:
            truthy = self.answers.get(subject)
            return False if truthy else None
        if self.answers.get(f"{label} is None"):
            return False
        match = re.fullmatch(r"(.+) == (.+)", label)
        if match:
            fixed, text = self._known(match[1])
            return text == match[2] if fixed else None
        return None


def explore(
    run: Callable[[World], T], limit: int = 10, allowance: int = _ALLOWANCE
) -> Iterator[tuple[Question | None, World, T]]:
    """Run in the first world, then in worlds that differ from it in one answer.

    Yields the differing question (None for the first), the world, and the result.
    Worlds in which the constructor raises are passed over, and those that would bring the
    steps of all beyond ``allowance``: the parts of what is so large are mostly targets themselves.
    """
    result = run_first(run, World()) or run_first(run, World(lenient=True))
    if result is None:
        return
    world, outcome = result
    yield None, world, outcome
    questions = [(label, answer) for label, answer in world.answers.items() if label not in world.given]
    tried: list[World] = []
    for label, answer in questions[:limit]:
        if sum(other.spent for other in tried) + world.spent > allowance:
            return
        other = World({**world.given, label: not answer}, lenient=world.lenient)
        result = run_first(run, other, attempts=3, tried=tried)
        if result is not None:
            yield Question(label, not answer), *result


def run_first(
    run: Callable[[World], T], world: World, *, attempts: int = 6, tried: list[World] | None = None
) -> tuple[World, T] | None:
    """The first world, as given, in which the constructor does not raise; ``tried`` gets all that ran."""
    for _ in range(attempts):
        if tried is not None:
            tried.append(world)
        try:
            return world, run(world)
        except Impossible:
            last = next((label for label in reversed(world.answers) if label not in world.given), None)
            if last is None:
                return None
            world = World({**world.given, last: not world.answers[last]}, lenient=world.lenient)
    return None


def negated(label: str) -> str:
    """The negation of a condition, as one would write it."""
    swaps = {" is None": " is not None", " is not None": " is None"}
    for end, other in swaps.items():
        if label.endswith(end):
            return label[: -len(end)] + other
    for sign, other in (
        (" == ", " != "),
        (" != ", " == "),
        (" >= ", " < "),
        (" <= ", " > "),
        (" > ", " <= "),
        (" < ", " >= "),
    ):
        if label.count(sign) == 1 and " and " not in label and " or " not in label:
            return label.replace(sign, other)
    if label.startswith("not "):
        return label[4:]
    return f"not {label}" if re.fullmatch(r"[\w.]+(\(.*\))?", label) else f"not ({label})"
