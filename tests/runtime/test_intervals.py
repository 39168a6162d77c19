"""What paired ratios allow to conclude, checked against simulated measurements."""

from __future__ import annotations

import random

import pytest

from tsguard.runtime.intervals import FEWEST, LOOKS, Interval, hull, interval


def measured(true_ratio: float, noise: float, rng: random.Random) -> Interval:
    """A measurement as ``measure`` makes it: looks at growing numbers until the interval is sharp."""
    ratios: list[float] = []
    for look in LOOKS:
        while len(ratios) < look:
            ratios.append(true_ratio * rng.lognormvariate(0, noise))
        found = interval(ratios)
        if found.is_sharp:
            break
    return found


@pytest.mark.parametrize("noise", [0.02, 0.1, 0.5])
def test_equal_sides_are_hardly_ever_told_apart(noise: float) -> None:
    rng = random.Random(1)
    verdicts = [measured(1.0, noise, rng).conclusion() for _ in range(1500)]
    wrong = sum(verdict in ("faster", "slower") for verdict in verdicts)
    assert wrong / len(verdicts) <= 0.01


@pytest.mark.parametrize("noise", [0.02, 0.1, 0.5])
def test_the_interval_holds_the_truth_in_95_percent(noise: float) -> None:
    rng = random.Random(2)
    found = [measured(1.3, noise, rng) for _ in range(1500)]
    assert sum(f.low <= 1.3 <= f.high for f in found) / len(found) >= 0.95


@pytest.mark.parametrize(("ratio", "verdict"), [(1.2, "faster"), (0.8, "slower"), (1.02, "no difference")])
def test_clear_cases(ratio: float, verdict: str) -> None:
    assert measured(ratio, 0.02, random.Random(3)).conclusion() == verdict


def test_hopeless_noise_is_called_so() -> None:
    rng = random.Random(4)
    found = interval([rng.lognormvariate(0, 1.5) for _ in range(15)])
    assert found.conclusion() == "too noisy"


def test_a_difference_below_three_percent_is_none() -> None:
    assert Interval(1.02, 1.01, 1.03, 480).conclusion() == "no difference"


def test_the_fewest_ratios_give_their_whole_range() -> None:
    found = interval([1.0 + i / 100 for i in range(FEWEST)])
    assert (found.low, found.high) == (1.0, 1.0 + (FEWEST - 1) / 100)


def test_two_measurements_must_agree() -> None:
    faster, undecided = Interval(1.10, 1.06, 1.14, 60), Interval(1.01, 0.97, 1.05, 60)
    assert hull(faster, undecided).conclusion() == "no difference"
    assert hull(faster, Interval(1.12, 1.08, 1.16, 60)).conclusion() == "faster"
