"""What paired timings allow to conclude.

The ratios of interleaved pairs are summed up by their median, with a confidence
interval from order statistics: it assumes nothing about how the ratios are distributed
(a bootstrap of a median covers too little below 30 pairs). Looking again after more
pairs gives chance more tries, so the level of each look is raised until all looks
together hold 95%.
"""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from tsguard.answer.speed import conclusion
from tsguard.report import Conclusion, Speedup
from tsguard.runtime.budgets import SHARP

LOOKS = (15, 30, 60, 120, 240, 480)
FEWEST = 8
_LEVEL_OF_A_LOOK = 1 - 0.05 / len(LOOKS)


@dataclass(frozen=True, slots=True)
class Interval:
    """The median of ratios and the bounds that hold at every look with 95% together."""

    median: float
    low: float
    high: float
    rounds: int

    @property
    def half_width(self) -> float:
        """Half the interval's width, relative to the median."""
        return (self.high - self.low) / 2 / self.median

    @property
    def is_sharp(self) -> bool:
        """Whether more pairs are not worth their time."""
        return self.half_width <= SHARP

    def conclusion(self) -> Conclusion:
        """Faster or slower when 1 lies outside and the difference matters (over 3%)."""
        return conclusion(self.median, self.low, self.high)

    def speedup(self) -> Speedup:
        return Speedup(self.median, self.low, self.high, self.rounds, self.conclusion())


def interval(ratios: Sequence[float]) -> Interval:
    """The interval of the median of at least ``FEWEST`` ratios."""
    ordered = sorted(ratios)
    rank = _rank(len(ordered))
    return Interval(statistics.median(ordered), ordered[rank], ordered[-1 - rank], len(ordered))


@functools.cache
def _rank(count: int) -> int:
    """How many values may be left out at each end at the level of one look."""
    tail, left_out = 0.0, -1
    while tail <= (1 - _LEVEL_OF_A_LOOK) / 2:
        left_out += 1
        tail += math.comb(count, left_out) / 2**count
    return max(left_out - 1, 0)


def hull(first: Interval, second: Interval) -> Interval:
    """What two independent measurements say together, widened where they differ."""
    weight = first.rounds / (first.rounds + second.rounds)
    return Interval(
        first.median**weight * second.median ** (1 - weight),
        min(first.low, second.low),
        max(first.high, second.high),
        first.rounds + second.rounds,
    )
