"""A target as other constructor arguments make it than those of the first world, as far as that shows something new."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import field
from itertools import compress, islice
from typing import TYPE_CHECKING

from tsguard.analysis.budgets import GUESSED_STEPS, LOOKED_STEPS
from tsguard.analysis.events import Event, Gap
from tsguard.analysis.exploration import Way, anywhere, elsewhere, explore, run_first, turned_guesses
from tsguard.analysis.kinds import classes_in, kinds_of
from tsguard.analysis.python import PythonInterpreter
from tsguard.analysis.subjects import Built, built
from tsguard.analysis.terms import Eq, Literal, Question, Term
from tsguard.analysis.values import Value
from tsguard.analysis.worlds import BudgetExceeded, World
from tsguard.report.records import dataclass, replace

if TYPE_CHECKING:
    from tsguard.analysis.python.program import Program
    from tsguard.project import Target

# Answers to guesses that are given the other way to tell when something is there.
_MOST_WAYS = 4


@dataclass(frozen=True, slots=True)
class Looked:
    """What one world shows against a promise: the events, those of some keys only ``when`` a further condition
    holds, and what was not read; ``asked`` is what it was asked meanwhile, ``ran`` the classes of the modules
    that were called."""

    events: tuple[Event, ...] = ()
    gaps: tuple[Gap, ...] = ()
    when: Mapping[Hashable, str] = field(default_factory=dict)
    asked: frozenset[Term] = frozenset()
    ran: frozenset[Hashable] = frozenset()


@dataclass(frozen=True, slots=True)
class First:
    """The first world after a target was followed in it: the ``kinds`` of what its constructor made, and what it
    was ``asked`` meanwhile; ``of_layers`` tells whether it matters which of torch's own layers there are."""

    world: World
    kinds: frozenset[Hashable]
    asked: frozenset[Term]
    of_layers: bool

    def kinds_of(self, value: Value) -> frozenset[Hashable]:
        """The kinds of what another constructor made."""
        return kinds_of(value, of_layers=self.of_layers)


@dataclass(frozen=True, slots=True)
class Otherwise:
    """What other worlds show against a promise: each event with its condition, and what was not read of those
    that only a guess tells from the first.  ``open`` is how one comes to something that hangs on no argument, but
    on what the source does not tell."""

    events: tuple[tuple[Event, str], ...] = ()
    gaps: tuple[Gap, ...] = ()
    open: Way | None = None


@dataclass(frozen=True, slots=True)
class Away:
    """``when`` events of the first world are there, by their keys; ``is_free`` tells that none is in some other world."""

    when: Mapping[Hashable, str]
    is_free: bool


@dataclass(frozen=True, slots=True)
class _Other:
    """A world in which there is something new: modules of other ``kinds``, or another answer to what is ``asked`` in forward.

    ``is_guess`` tells that only guesses tell it from the first, so that no promise is made of what is not read there."""

    way: Way
    given: Mapping[Question, bool]
    kinds: frozenset[Hashable]
    asked: frozenset[Question]
    is_guess: bool

    def goes_with(self, other: _Other) -> bool:
        """Whether both may be looked at in one world."""
        if self.is_guess is not other.is_guess:
            return False
        if any(other.given.get(question, yes) is not yes for question, yes in self.given.items()):
            return False
        return self.way.arguments.isdisjoint(other.way.arguments)


def looked_at_otherwise(
    program: Program, target: Target, first: First, look: Callable[[Built], Looked]
) -> Otherwise:
    """What the worlds show that differ from the first in some answer, in which nothing showed.

    Those that ask different arguments are looked at as one world, as long as that shows nothing: it has the new
    modules of all of them, and asks what each answers otherwise.
    """
    search = _Search(program, target, first, look)
    found = [one for group in _groups(search.others()) for one in search.together(group)]
    gaps = {gap.key: gap for _, looked in found for gap in looked.gaps}
    is_told = [way.is_of_arguments for way, _ in found]
    return Otherwise(
        tuple(_told(list(compress(found, is_told)))),
        (*search.gaps, *gaps.values()),
        next((way for way, looked in found if looked.events and not way.is_of_arguments), None),
    )


def _groups(others: Iterable[_Other]) -> list[list[_Other]]:
    """Worlds that may be looked at as one: no argument tells two of them from the first."""
    groups: list[list[_Other]] = []
    for one in others:
        group = next((group for group in groups if all(map(one.goes_with, group))), None)
        if group is None:
            groups.append([one])
        else:
            group.append(one)
    return groups


def _is_asked(question: Question, asked: Set[Term]) -> bool:
    """Whether a question was asked, or of a text what it is, which another answer may have told."""
    if question in asked or not isinstance(question, Eq):
        return question in asked
    return isinstance(question.right, Literal) and question.right.kind == "str" and question.left in asked


def _told(found: Sequence[tuple[Way, Looked]]) -> Iterator[tuple[Event, str]]:
    """The events, each with when it is there."""
    events = {
        _place(event): (event, looked.when.get(event.key)) for _, looked in found for event in looked.events
    }
    for place, (event, further) in events.items():
        when = anywhere(way for way, looked in found if place in map(_place, looked.events))
        yield event, " and ".join(filter(None, [when, further]))


class _Search:
    """The worlds of a target beyond the first, and what shows in them."""

    def __init__(
        self, program: Program, target: Target, first: First, look: Callable[[Built], Looked]
    ) -> None:
        self.program, self.target, self.first, self.look = program, target, first, look
        self.gaps: list[Gap] = []
        self.spent = 0

    def others(self) -> Iterator[_Other]:
        """The worlds that bring something which none before them does."""
        known = set(self.first.kinds)
        asked = self.first.asked
        seen: dict[Value, frozenset[Hashable]] = {}

        def run(world: World) -> frozenset[Hashable] | Gap:
            try:
                value = built(PythonInterpreter(self.program, world), self.target)
            except BudgetExceeded:
                return Gap(self.target.module, self.target.line, "it is too large to be analysed completely")
            if value not in seen:
                seen[value] = self.first.kinds_of(value)
            return seen[value]

        begun: tuple[World, frozenset[Hashable] | Gap] = (self.first.world, self.first.kinds)
        for way, world, kinds in explore(run, begun=begun):
            if way is None:
                continue
            guessed = self.first.world.guessed
            is_guess = not way.besides and all(answer.asked in guessed for answer in way.turned)
            if not is_guess and not way.is_of_arguments:
                continue  # how the environment mostly is, is no promise
            if isinstance(kinds, Gap):
                self.gaps += [kinds] if is_guess else []
                continue
            answers = frozenset(question for question in world.given if _is_asked(question, asked))
            if answers or not kinds <= known:
                yield _Other(way, world.given, kinds - known, answers, is_guess)
            known |= kinds

    def together(self, some: list[_Other], *, is_found: bool = False) -> list[tuple[Way, Looked]]:
        """What worlds show that are looked at as one, or in parts where that cannot be made or shows something.

        With ``is_found`` something shows in them and others, so that the budget is no reason to leave them out.
        """
        looked = self._in_one(some, is_found=is_found)
        if len(some) == 1 or (looked is not None and not (looked.events or looked.gaps)):
            return [] if looked is None else [(some[0].way, looked)]
        half = len(some) // 2
        is_found = is_found or (looked is not None and bool(looked.events))
        apart = [one for part in (some[:half], some[half:]) for one in self.together(part, is_found=is_found)]
        if looked is None or not looked.events or any(one.events for _, one in apart):
            return apart
        return [*apart, self._only_together(some, looked)]

    def _only_together(self, some: list[_Other], looked: Looked) -> tuple[Way, Looked]:
        """What shows in no part of some worlds: those of them that it takes."""
        needed = some
        for one in some:
            fewer = [other for other in needed if other is not one]
            found = self._in_one(fewer, is_found=True) if fewer else None
            if found is not None and found.events:
                needed, looked = fewer, found
        return Way(tuple(dict.fromkeys(answer for one in needed for answer in one.way.turned))), looked

    def _in_one(self, some: list[_Other], *, is_found: bool) -> Looked | None:
        """What the one world shows that is all of some; None where there is none, or no more is looked at."""
        first, is_guess = self.first.world, some[0].is_guess
        if not is_found and self.spent > (GUESSED_STEPS if is_guess else LOOKED_STEPS):
            return None
        given = {question: yes for one in some for question, yes in one.given.items()}
        wanted = frozenset[Hashable]().union(*(one.kinds for one in some))
        asked = frozenset[Question]().union(*(one.asked for one in some))

        def run(world: World) -> Looked | None:
            value = built(PythonInterpreter(self.program, world), self.target)
            if not wanted <= self.first.kinds_of(value):
                return None
            looked = self.look(Built(world, value))
            if len(some) > 1 and not (
                all(_is_asked(one, looked.asked) for one in asked) and classes_in(wanted) <= looked.ran
            ):
                return None
            return looked if is_guess else replace(looked, gaps=())

        world = World(given, manner=first.manner, done=first.done)
        try:
            found = run_first(run, world, attempts=1)
        except BudgetExceeded:
            return None
        finally:
            self.spent += world.spent
        return None if found is None else found[1]


def away_otherwise(
    program: Program,
    target: Target,
    first: First,
    look: Callable[[Built], Looked],
    events: Iterable[Event],
) -> Away:
    """When events of the first world are there that another answer to a guess takes away."""
    kept = tuple(events)
    away: dict[Hashable, list[Way]] = {event.key: [] for event in kept}
    is_free = False

    def run(world: World) -> Looked | None:
        try:
            made = Built(world, built(PythonInterpreter(program, world), target))
        except BudgetExceeded:
            return None
        return look(made) if first.kinds_of(made.value) != first.kinds else None

    for way, _, found in islice(turned_guesses(run, first.world), _MOST_WAYS):
        if found is not None and not found.gaps and way.is_of_arguments:
            there = set(map(_place, found.events))
            is_free = is_free or not there
            for event in kept:
                if _place(event) not in there:
                    away[event.key].append(way)
    return Away({key: elsewhere(ways) for key, ways in away.items() if ways}, is_free)


def _place(event: Event) -> Hashable:
    return (event.rule, event.module, event.span)
