"""How many workers are worth it: which numbers to try next, and which to recommend.

The numbers of workers are tried in rounds, one short turn each, so that a busy moment of
the machine hits all of them alike.  Numbers are compared by the ratios of their rates
within rounds.  The recommended number is the smallest that is practically as good as the
best; it is looked for by doubling, then by halving the gap below it.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field

from tsguard.runtime.budgets import ENOUGH_ROUNDS, FEWEST_TURNS, MOST_ROUNDS, SEEMS_AS_GOOD, WORTH_DOUBLING
from tsguard.runtime.intervals import FEWEST, Interval, interval

# What counts as being as good as the best; and what a doubling must bring to go on.
AS_GOOD = 0.97
# Below this share of the best a number is given up: at first, and once a few rounds agree.
_HOPELESS, _HOPELESS_LATER, _LATER = 0.60, 0.85, 3


@dataclass(frozen=True, slots=True)
class Step:
    """A training step: the seconds that it takes, and the items of a batch."""

    seconds: float
    items: int

    def pace(self, workers: int, rate: float) -> float:
        """Seconds from one step to the next, with so many items per second.

        Workers make the next batch during the step; without them the step waits for it.
        """
        loading = self.items / rate
        return max(self.seconds, loading) if workers else self.seconds + loading


@dataclass(slots=True)
class Rounds:
    """The rates measured so far: for each number of workers, one in each round that it took part in.

    ``current`` is the number that the loader has now, ``most`` the largest to be tried;
    ``chosen`` the only ones to be tried, () for those found worth it.  With a ``step``,
    numbers are worth what they make of the time between steps, else what they deliver.
    """

    current: int
    most: int
    cores: int = 1
    chosen: tuple[int, ...] = ()
    step: Step | None = None
    rates: dict[int, dict[int, float]] = field(default_factory=dict)
    failed: set[int] = field(default_factory=set)

    def add(self, workers: int, round_: int, rate: float) -> None:
        self.rates.setdefault(workers, {})[round_] = rate

    @property
    def tried(self) -> list[int]:
        return sorted(self.rates)

    @property
    def best(self) -> int:
        """The number that is worth most."""
        return max(self.tried, key=self.worth)

    def worth(self, workers: int) -> float:
        """What a number of workers is worth, by the median of its rates."""
        return self._worth(workers, statistics.median(self.rates[workers].values()))

    def _worth(self, workers: int, rate: float) -> float:
        return rate if self.step is None else 1 / self.step.pace(workers, rate)

    def worth_against(self, workers: int, other: int) -> float:
        """The median ratio of what two numbers are worth within rounds."""
        ours, theirs = self.rates[workers], self.rates[other]
        common = ours.keys() & theirs.keys()
        if not common:
            return self.worth(workers) / self.worth(other)
        return statistics.median(
            self._worth(workers, ours[r]) / self._worth(other, theirs[r]) for r in common
        )


def first_round(rounds: Rounds) -> int | None:
    """The next number to try for the first time; None when the knee is bracketed.

    0, what the loader has now, 1, 2 and the cores; then twice as many while that brings
    something; then between the smallest that seems as good as the best and the next
    smaller one.
    """
    fixed = rounds.chosen or (0, rounds.current, 1, 2, rounds.cores)
    for workers in fixed:
        if _is_open(workers, rounds):
            return workers
    if rounds.chosen:
        return None
    doubled = _doubled(rounds)
    return doubled if doubled is not None else _between(rounds)


def _is_open(workers: int, rounds: Rounds) -> bool:
    untried = workers not in rounds.rates and workers not in rounds.failed
    return untried and workers <= rounds.most


def _doubled(rounds: Rounds) -> int | None:
    """Twice the largest number, if that was better than all smaller ones but 0."""
    several = [w for w in rounds.tried if w > 0]
    if len(several) < 2:
        return None
    largest = several[-1]
    before = max(rounds.worth(w) for w in several[:-1])
    if rounds.worth(largest) < WORTH_DOUBLING * before:
        return None
    return 2 * largest if _is_open(2 * largest, rounds) else None


def _between(rounds: Rounds) -> int | None:
    best = rounds.worth(rounds.best)
    good = [w for w in rounds.tried if rounds.worth(w) >= SEEMS_AS_GOOD * best]
    upper = min(good)
    below = [w for w in rounds.tried if w < upper]
    if not below or upper - max(below) <= max(1, upper // 8):
        return None
    middle = (upper + max(below)) // 2
    return middle if _is_open(middle, rounds) else None


def contenders(rounds: Rounds) -> list[int]:
    """The numbers to compare in the next round: few, so that there are many rounds.

    They are the best, the one to be recommended so far, its neighbours among those not
    yet given up, and the current one; and every other once more, lest one busy moment
    decide.
    """
    best, chosen = rounds.best, recommended(rounds)
    left = [w for w in rounds.tried if _has_hope(w, best, rounds)]
    place = left.index(chosen)
    near = left[max(place - 1, 0) : place + 2]
    current = {rounds.current} & rounds.rates.keys()
    once = {w for w in rounds.tried if len(rounds.rates[w]) < FEWEST_TURNS}
    return sorted({best, *near, *current, *once})


def _has_hope(workers: int, best: int, rounds: Rounds) -> bool:
    enough = _HOPELESS if len(rounds.rates[workers]) < _LATER else _HOPELESS_LATER
    return rounds.worth_against(workers, best) >= enough


def is_settled(rounds: Rounds) -> bool:
    """Whether more rounds would hardly change the recommendation or its gain."""
    counts = [len(rounds.rates[w]) for w in contenders(rounds)]
    if min(counts) < ENOUGH_ROUNDS:
        return False
    found = gain(rounds, recommended(rounds))
    return min(counts) >= MOST_ROUNDS or found is None or found.is_sharp


def recommended(rounds: Rounds) -> int:
    """The smallest number of workers that is as good as the best."""
    return min(w for w in rounds.tried if rounds.worth_against(w, rounds.best) >= AS_GOOD)


def gain(rounds: Rounds, workers: int) -> Interval | None:
    """The rate with this many workers against the current number's, by the rounds that both took part in.

    None for too few rounds, and for the current number itself.
    """
    ours, theirs = rounds.rates.get(workers, {}), rounds.rates.get(rounds.current, {})
    ratios = [ours[r] / theirs[r] for r in ours.keys() & theirs.keys()]
    return interval(ratios) if len(ratios) >= FEWEST and workers != rounds.current else None
