"""The pairing of blocks, on a clock that only the timed steps advance."""

from __future__ import annotations

import random

import pytest

pytest.importorskip("torch", reason="timing is the worker's")

from tsguard.runtime.intervals import FEWEST, LOOKS
from tsguard.runtime.worker.timing import HostClock, measure, warm_up


class Steps:
    """Steps of known duration, and the clock that they advance."""

    def __init__(self, noise: float = 0.0) -> None:
        self.now, self.calls, self.noise = 0.0, 0, noise
        self.clock = HostClock(lambda: self.now)
        self.rng = random.Random(0)

    def lasting(self, seconds: float):
        def step() -> None:
            self.now += seconds * self.rng.lognormvariate(0, self.noise)
            self.calls += 1

        return step


@pytest.mark.parametrize("seconds", [1e-6, 1e-3, 0.05])
def test_short_calls_are_timed_until_the_interval_is_sharp(seconds: float) -> None:
    steps = Steps(noise=0.01)
    found = measure(steps.lasting(2 * seconds), steps.lasting(seconds), steps.clock, budget=4.0)
    assert found.ratio is not None
    assert found.ratio.low <= 2.0 <= found.ratio.high
    assert found.ratio.is_sharp
    assert found.ratio.rounds == LOOKS[0]


def test_a_call_of_seconds_gets_the_fewest_pairs() -> None:
    steps = Steps()
    found = measure(steps.lasting(2.0), steps.lasting(1.0), steps.clock, budget=4.0)
    assert found.ratio is not None
    assert (found.ratio.median, found.ratio.rounds) == (2.0, FEWEST)


def test_a_call_that_is_hopelessly_long_is_made_once() -> None:
    steps = Steps()
    found = measure(steps.lasting(20.0), steps.lasting(10.0), steps.clock, budget=4.0)
    assert (found.eager_seconds, found.seconds, found.ratio) == (20.0, 10.0, None)
    assert steps.calls == 2


def test_noise_is_timed_for_the_whole_budget_and_called_so() -> None:
    steps = Steps(noise=2.0)
    found = measure(steps.lasting(0.1), steps.lasting(0.1), steps.clock, budget=4.0)
    assert steps.now > 4.0
    assert found.ratio is not None
    assert found.ratio.conclusion() == "too noisy"


def test_warming_up_ends_when_calls_take_equally_long() -> None:
    steps = Steps()
    costs = iter([5.0, 3.0, 1.0])

    def specialising() -> None:
        steps.now += next(costs, 0.5)

    found = warm_up(specialising, steps.clock, fewest=5)
    assert (found.first, found.calls) == (5.0, 8)
