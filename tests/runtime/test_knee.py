"""Which number of workers is recommended, on machines whose throughput is a formula."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tsguard.runtime.knee import Rounds, Step, contenders, first_round, gain, is_settled, recommended

Model = Callable[[int], float]


def measured(
    model: Model,
    *,
    current: int = 0,
    most: int = 16,
    cores: int = 4,
    noise: float = 0.0,
    step: Step | None = None,
) -> Rounds:
    """All the rounds that a sweep would make, with rates that scatter by ``noise``."""
    chance = random.Random(1)
    rounds = Rounds(current, most, cores, step=step)

    def rate(workers: int) -> float:
        return model(workers) * chance.lognormvariate(0, noise)

    while (workers := first_round(rounds)) is not None:
        rounds.add(workers, 0, rate(workers))
    number = 0
    while not is_settled(rounds):
        number += 1
        mood = chance.lognormvariate(0, 3 * noise)  # hits all of a round alike
        for workers in contenders(rounds):
            rounds.add(workers, number, mood * rate(workers))
    return rounds


def limited(limit: int, per_worker: float = 100.0) -> Model:
    """As many items as there are workers, up to a limit; the loading process counts as one worker."""
    return lambda workers: per_worker * min(max(workers, 1), limit)


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, 6, 8, 11, 16])
def test_the_knee_is_found(limit: int):
    rounds = measured(limited(limit))
    assert recommended(rounds) == (0 if limit == 1 else limit)


@pytest.mark.parametrize("limit", [2, 3, 4, 6, 8])
def test_a_noisy_machine_costs_at_most_a_twentieth(limit: int):
    model = limited(limit)
    rounds = measured(model, noise=0.05)
    assert model(recommended(rounds)) >= 0.95 * model(limit)


def test_items_that_cost_nothing_need_no_workers():
    rounds = measured(lambda workers: 10_000 if workers == 0 else 1_000 / workers)
    assert recommended(rounds) == 0
    assert max(rounds.tried) <= 4


def test_workers_that_begin_slowly_are_not_given_up_at_once():
    rounds = measured(lambda workers: 300.0 if workers == 0 else 100.0 * min(workers, 6))
    assert recommended(rounds) == 6


def test_no_more_workers_are_tried_than_allowed():
    rounds = measured(limited(16), most=6)
    assert max(rounds.tried) <= 6


def test_chosen_numbers_are_the_only_ones():
    rounds = Rounds(0, 16, chosen=(0, 3))
    for workers in (0, 3):
        assert first_round(rounds) == workers
        rounds.add(workers, 0, 1.0)
    assert first_round(rounds) is None


def test_numbers_that_failed_are_not_tried_again():
    rounds = Rounds(0, 16, cores=2, failed={1})
    rounds.add(0, 0, 1.0)
    assert first_round(rounds) == 2


def test_the_gain_is_against_the_current_number():
    found = gain(measured(limited(4), current=1), 4)
    assert found is not None
    assert found.median == pytest.approx(4)
    assert found.low <= 4 <= found.high


def test_too_few_rounds_give_no_interval():
    rounds = Rounds(0, 4)
    for workers in (0, 2):
        rounds.add(workers, 0, 1.0 + workers)
    assert gain(rounds, 2) is None


def test_a_known_step_makes_fewer_workers_do():
    # 250 items a second are enough for batches of 50 and steps of 0.2 s.
    assert recommended(measured(limited(8), step=Step(seconds=0.2, items=50))) == 3
    assert recommended(measured(limited(8), step=Step(seconds=100.0, items=50))) == 0
    assert recommended(measured(limited(8), step=Step(seconds=0.001, items=50))) == 8
