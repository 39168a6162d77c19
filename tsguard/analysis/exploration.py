"""Exploration: which worlds are run, and what tells each of them from the first.

What the first world was asked gets the other answer, one question at a time; what a world so opened is asked
for the first time is asked the other way from there.  So each question is turned once, at the place where it
comes up, and the worlds are as many as the questions.  Last come those in which two are turned that one test joins.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from types import MappingProxyType
from typing import Literal, TypeVar

from tsguard.analysis.budgets import (
    DEFAULT_STEPS,
    GUESSED_STEPS,
    MOST_WORLDS,
    REFUSED_STEPS,
    SETTLED_WORLDS,
    TURNED_ANSWERS,
    WORLD_STEPS,
)
from tsguard.analysis.terms import Converts, Eq, Parameter, Question, Term, looks_up, parts
from tsguard.analysis.worlds import Answer, Impossible, Manner, Uncallable, World
from tsguard.report.records import dataclass

T = TypeVar("T")

Shown = Literal["nothing", "refused", "settled"]
"""What worlds show of a target: nothing against it, a reason to refuse it in each, or all that its verdict hangs on."""


@dataclass(frozen=True, slots=True)
class Way:
    """How one comes from the first world to another: the answers that were ``turned`` to get there, and
    those that had to be turned ``besides`` for the constructor not to raise."""

    turned: tuple[Answer, ...]
    besides: tuple[Answer, ...] = ()

    def __str__(self) -> str:
        """The condition under which one is there."""
        return _conjunction(_telling((*self.turned, *self.besides)))

    @property
    def is_of_arguments(self) -> bool:
        """Whether constructor arguments give each of the answers."""
        return all(map(_arguments, (answer.asked for answer in self.turned)))

    @property
    def arguments(self) -> frozenset[Term]:
        """The arguments that the last answer is about."""
        return _arguments(self.turned[-1].asked)


def _arguments(asked: Question) -> frozenset[Term]:
    return frozenset(part for part in parts(asked) if isinstance(part, Parameter))


_MOST_ALTERNATIVES = 3
_MOST_TOGETHER = 10


def anywhere(ways: Iterable[Way], others: Iterable[Way] = ()) -> str:
    """The condition under which one is on any of several ways, and on none of the ``others``.

    Beyond a few it says that there are more.
    """
    found, left = list(ways), list(others)
    shortest = _shortest(found)
    if any(_is_unless(answer) for way in shortest for answer in way.turned):
        return str(found[0])
    told = list(dict.fromkeys(str(_without(way, left)) for way in shortest))
    if len(told) == 1:
        return told[0]
    several = [f"({text})" if " and " in text else text for text in told[:_MOST_ALTERNATIVES]]
    return " or ".join([*several, *(["..."] if len(told) > _MOST_ALTERNATIVES else [])])


def _without(way: Way, others: list[Way]) -> Way:
    """A way of which no further answer leads to one of the others."""
    turned = frozenset(way.turned)
    further = (frozenset(other.turned) - turned for other in others if turned < frozenset(other.turned))
    against = [Answer(last.asked, not last.yes) for (last,) in (one for one in further if len(one) == 1)]
    return Way((*way.turned, *dict.fromkeys(against)), way.besides)


def elsewhere(ways: Iterable[Way], others: Iterable[Way] = ()) -> str:
    """The condition under which one is on none of several ways, or by a further answer on one of the ``others``."""
    found, left = list(ways), list(others)
    shortest = [_telling(_without(way, left).turned) for way in _shortest(found)]
    single = [Answer(one[0].asked, not one[0].yes) for one in shortest if len(one) == 1]
    several = dict.fromkeys(f"not ({_conjunction(one)})" for one in shortest if len(one) > 1)
    told = _conjunction(_telling(tuple(dict.fromkeys(single))))
    return " and ".join(filter(None, [told, *several]))


def _shortest(ways: list[Way]) -> list[Way]:
    """The ways that no other is a part of, as they are told."""
    turned = [frozenset(map(str, _telling(way.turned))) for way in ways]
    return [way for way, one in zip(ways, turned, strict=True) if not any(other < one for other in turned)]


def _conjunction(answers: list[Answer]) -> str:
    plain = " and ".join(str(answer) for answer in answers if not _is_unless(answer))
    return ", ".join(filter(None, [plain, *(str(answer) for answer in answers if _is_unless(answer))]))


def _is_unless(answer: Answer) -> bool:
    return isinstance(answer.asked, Converts) and not answer.yes


def _telling(answers: tuple[Answer, ...]) -> list[Answer]:
    """The answers that are not said by those after them: who takes "gelu" takes neither "relu" nor None."""
    told: list[Answer] = []
    world = World()
    for answer in reversed(answers):
        if world.decide(answer.asked, not answer.yes) is not answer.yes:
            world = World()
            for other in (*told, answer):
                world.decide(other.asked, other.yes)
            told.append(answer)
    return told[::-1]


def _subjects(answers: tuple[Answer, ...]) -> frozenset[Term]:
    """What the answers are about: of something that it is none of many is one thing."""
    asked = [answer.asked for answer in _telling(answers)]
    return frozenset(one.left if isinstance(one, Eq) else one for one in asked)


@dataclass(frozen=True, slots=True)
class _Turn:
    """A question that gets the other answer, in a world that goes as far as it like the one before.

    It is a guess where no parameter's default gives the usual answer: what an argument holds is none."""

    answer: Answer
    before: tuple[Answer, ...]
    given: dict[Question, bool]
    is_guess: bool


def always(ways: Iterable[Way]) -> bool:
    """Whether one is on one of several ways whatever the answers; of many questions it is not known, and so not told."""
    taken = [{answer.asked: answer.yes for answer in way.turned} for way in ways]
    asked = list(dict.fromkeys(question for way in taken for question in way))
    if not all(taken) or len(asked) > _MOST_TOGETHER:
        return not all(taken)
    answers = (dict(zip(asked, one, strict=True)) for one in product((True, False), repeat=len(asked)))
    return all(any(way.items() <= one.items() for way in taken) for one in answers)


def explore(
    run: Callable[[World], T],
    shows: Callable[[Way | None, T], Shown] = lambda *_: "nothing",
    *,
    begun: tuple[World, T] | None = None,
) -> Iterator[tuple[Way | None, World, T]]:
    """Run in the first world, then in each that differs from one that was run in one answer.

    Yields the way to the world (None for the first), the world, and the result.  Worlds in which the
    constructor raises are passed over.  Where no world ``shows`` anything, a promise rests on this, and all that
    may be asked is.  Where the first is refused, that it always is rests on what it guessed, and that is asked
    until one world is not.  Else only what tells when it is so: few worlds, and none that would bring the steps
    of all beyond WORLD_STEPS, as the parts of what is so large are mostly targets themselves.

    First come the questions that are answered against the likes of what is given, whether it converts, then
    those that no default answers in the first world; what is guessed beyond it has the smaller budget.  With ``begun``
    the first world has been run already, with this result.
    """
    result = begun or first_made(run)
    if result is None:
        return
    first, outcome = result
    yield None, first, outcome
    shown = shows(None, outcome)
    seen: set[Question] = set(first.given)
    turns, later = deque(_turns(first, (), seen)), deque[_Turn]()
    tried: list[World] = []
    known: set[frozenset[tuple[Question, bool]]] = set()
    explored = spent = 0
    while turns or later:
        turn = (turns or later).popleft()
        given = {**turn.given, turn.answer.asked: turn.answer.yes}
        turned = (*turn.before, turn.answer)
        if frozenset(given.items()) in known or (turn.before and len(_subjects(turned)) > TURNED_ANSWERS):
            continue
        is_guess = turn.is_guess and not turn.before
        only_tells = shown == "settled" or (shown == "refused" and not is_guess)
        allowance = WORLD_STEPS if only_tells else _allowance(shown, is_guess=is_guess)
        is_dear = spent + first.spent > allowance and not isinstance(turn.answer.asked, Converts)
        if explored >= (SETTLED_WORLDS if only_tells else MOST_WORLDS):
            if shown == "refused":
                continue
            return
        if is_dear:
            continue
        explored += 1
        tried.clear()
        limit = max(allowance - spent, 2 * first.spent)
        other = World(given, manner=first.manner, done=first.done, limit=limit)
        result = run_first(run, other, attempts=3, tried=tried)
        for world in tried:
            spent += world.spent
            known.add(frozenset(world.given.items()))
            later.extend(_joint(world, first, turned))
            turns.extend(_turns(world, turned, seen))
        if result is not None:
            world, outcome = result
            way = Way(turned, tuple(_besides(turned, given, world)))
            yield way, world, outcome
            shown = _further(shown, shows(way, outcome))


def _allowance(shown: Shown, *, is_guess: bool) -> int:
    """The steps that all worlds may take before one that a promise, or a refusal, rests on."""
    if shown == "refused":
        return REFUSED_STEPS
    return GUESSED_STEPS if is_guess else DEFAULT_STEPS


def _further(shown: Shown, there: Shown) -> Shown:
    """What the worlds show with one more."""
    if shown == "nothing":
        return "settled" if there != "nothing" else shown
    return "settled" if there != "refused" else shown


def turned_guesses(run: Callable[[World], T], first: World) -> Iterator[tuple[Way, World, T]]:
    """Run in each world that differs from the first in one answer that is a guess, if the constructor takes it."""
    for asked in sorted(first.guessed - first.given.keys(), key=list(first.answers).index):
        given = {**first.given, asked: not first.answers[asked]}
        result = run_first(run, World(given, manner=first.manner, done=first.done), attempts=3)
        if result is not None:
            world, outcome = result
            turned = (Answer(asked, given[asked]),)
            yield Way(turned, tuple(_besides(turned, given, world))), world, outcome


def _besides(turned: tuple[Answer, ...], given: dict[Question, bool], world: World) -> Iterator[Answer]:
    """What else is so in a world: what had to be turned, and what is taken by what is not as it was."""
    for asked, yes in world.given.items():
        if asked not in given and asked in world.answers:
            yield Answer(asked, yes)
    for answer in turned:
        if isinstance(answer.asked, Eq) and not answer.yes:
            taken = world.known(answer.asked.left)
            if taken is not None:
                yield Answer(Eq(answer.asked.left, taken), True)


def _turns(world: World, before: tuple[Answer, ...], seen: set[Question]) -> list[_Turn]:
    """The other answers to what a world was asked that was asked in none before it."""
    new = [(asked, answer) for asked, answer in world.answers.items() if asked not in seen]
    seen.update(asked for asked, _ in new)
    turns = [
        _Turn(Answer(asked, not answer), before, world.given, asked in world.guessed or looks_up(asked))
        for asked, answer in new
    ]
    asked_before: Counter[Term] = Counter()
    rank: dict[Question, int] = {}
    for turn in turns:
        asked = turn.answer.asked
        if isinstance(asked, Eq):  # which of many something is comes after what else is asked
            rank[asked] = asked_before[asked.left]
            asked_before[asked.left] += 1
    return sorted(turns, key=lambda turn: _urgency(turn, rank))


def _joint(world: World, first: World, turned: tuple[Answer, ...]) -> Iterator[_Turn]:
    """The other answers to what the first world was asked elsewhere, and this one in a test with what was turned last.

    ``a and b`` asks for the second only where the first holds.
    """
    reached = {turned[-1].asked}
    for (before, asked), times in world.followed.items():
        is_new = before in reached and times > first.followed.get((before, asked), 0)
        if is_new:
            reached.add(asked)
        answer = world.answers.get(asked)  # None where other answers say it
        if is_new and answer is not None and asked in first.answers and asked not in world.given:
            yield _Turn(Answer(asked, not answer), turned, world.given, is_guess=False)


def _urgency(turn: _Turn, rank: dict[Question, int]) -> tuple[bool, bool, int]:
    """What is turned first sorts first; ``rank`` says how often was asked before what something equals."""
    asked = turn.answer.asked
    return not isinstance(asked, Converts), not turn.is_guess, rank.get(asked, 0)


def first_made(
    run: Callable[[World], T],
    manners: tuple[Manner, ...] = ("strict", "wary", "lenient"),
    given: Mapping[Question, bool] = MappingProxyType({}),
) -> tuple[World, T] | None:
    """The first world in which the constructor does not raise, of the first manner that has one."""
    for manner in manners:
        found = run_first(run, World(dict(given), manner=manner))
        if found is not None:
            return found
    return None


def run_first(
    run: Callable[[World], T], world: World, *, attempts: int = 6, tried: list[World] | None = None
) -> tuple[World, T] | None:
    """The first world, as given, in which the constructor does not raise; ``tried`` gets all that ran."""
    for _ in range(attempts):
        if tried is not None:
            tried.append(world)
        try:
            return world, run(world)
        except Uncallable:
            return None
        except Impossible:
            last = world.last_asked()
            if last is None:
                return None
            given = {**world.given, last: not world.answers[last]}
            world = World(given, manner=world.manner, done=world.done, limit=world.limit)
    return None
