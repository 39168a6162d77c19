"""What a measured ratio allows to say, and as many of its digits as it takes to see why."""

from __future__ import annotations

from tsguard.report import Conclusion, Speedup

RELEVANT = 0.03
"""A smaller difference is none."""
USABLE = 0.10
"""Half an interval's width, relative to the median, above which it allows no conclusion."""
RULE = f"faster or slower means by more than {RELEVANT:.0%}, with the whole interval on that side of 1"
_FEWEST_DIGITS, _MOST_DIGITS = 2, 5


def conclusion(median: float, low: float, high: float) -> Conclusion:
    """Faster or slower when 1 lies outside the interval and the difference matters.

    No more digits count than can be printed.
    """
    median, low, high = (round(value, _MOST_DIGITS) for value in (median, low, high))
    if low > 1 and median > 1 + RELEVANT:
        return "faster"
    if high < 1 and median < 1 - RELEVANT:
        return "slower"
    return "no difference" if (high - low) / 2 <= USABLE * median else "too noisy"


def ratio(speedup: Speedup) -> str:
    """``1.31x [1.27, 1.36]``: what is printed allows the conclusion that was drawn."""
    for digits in range(_FEWEST_DIGITS, _MOST_DIGITS + 1):
        shown = [f"{value:.{digits}f}" for value in (speedup.median, speedup.low, speedup.high)]
        median, low, high = map(float, shown)
        if median > 0 and conclusion(median, low, high) == speedup.conclusion:
            break
    else:
        shown = [f"{value:.{_FEWEST_DIGITS}f}" for value in (speedup.median, speedup.low, speedup.high)]
    return f"{shown[0]}x [{shown[1]}, {shown[2]}]"
