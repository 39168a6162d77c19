"""Intervals of speeds drawn on an axis, the same for all drawings of a page."""

from __future__ import annotations

import math
from collections.abc import Iterable

from tsguard.report import Speedup
from tsguard.report.records import dataclass

_WIDTH, _MARGIN = 150, 12
_LINE, _LABEL = 8, 26
# Powers of two: a speed beyond them is drawn at the edge.
_LEAST, _MOST = -4, 5


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from ``2 ** least`` to ``2 ** most`` times eager's speed."""

    least: int = -1
    most: int = 1

    def x(self, ratio: float) -> float:
        """Where a ratio stands."""
        power = math.log2(ratio) if ratio > 0 else self.least
        part = (min(max(power, self.least), self.most) - self.least) / (self.most - self.least)
        return _MARGIN + part * (_WIDTH - 2 * _MARGIN)

    @property
    def ticks(self) -> list[float]:
        """Some four ratios to be written at the axis, equal speed always among them."""
        step = max(1, (self.most - self.least) // 3)
        powers = [p for p in range(self.least, self.most + 1) if p % step == 0]
        return [2.0**power for power in powers]


def scale(speedups: Iterable[Speedup]) -> Scale:
    """The axis that holds all intervals, and half to twice the speed of eager at least."""
    least, most = -1, 1
    for speedup in speedups:
        if speedup.low > 0:
            least = min(least, math.floor(math.log2(speedup.low)))
            most = max(most, math.ceil(math.log2(speedup.high)))
    return Scale(max(least, _LEAST), min(most, _MOST))


def drawing(speedup: Speedup | None, scale: Scale) -> str:
    """An interval as SVG, with the median, the axis and a line where speeds are equal; "" for none."""
    if speedup is None:
        return ""
    low, median, high = (scale.x(ratio) for ratio in (speedup.low, speedup.median, speedup.high))
    equal = scale.x(1.0)
    ticks = "".join(
        f'<path d="M{scale.x(tick):.1f} {_LINE + 4}v3"/><text x="{scale.x(tick):.1f}" y="{_LABEL}">{tick:g}x</text>'
        for tick in scale.ticks
    )
    label = f"{speedup.median:.2f} times the speed of eager, between {speedup.low:.2f} and {speedup.high:.2f}"
    return (
        f'<svg class="interval {speedup.conclusion.split()[0]}" viewBox="0 0 {_WIDTH} {_LABEL + 2}" role="img"'
        f' aria-label="{label}"><title>{label}</title>'
        f'<path d="M{_MARGIN} {_LINE + 5}H{_WIDTH - _MARGIN}"/>{ticks}'
        f'<path class="equal" d="M{equal:.1f} 0V{_LINE + 7}"/>'
        f'<rect x="{low:.1f}" y="{_LINE - 5}" width="{max(high - low, 1):.1f}" height="4"/>'
        f'<circle cx="{median:.1f}" cy="{_LINE - 3}" r="3.2"/></svg>'
    )
