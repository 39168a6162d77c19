"""What to change after a check failed: the sizes that it compared tell."""

from __future__ import annotations

from collections.abc import Iterator

from tsguard.runtime.worker.conditions import Condition, violated
from tsguard.runtime.worker.inputs import moves
from tsguard.runtime.worker.inputs.moves import Move
from tsguard.runtime.worker.inputs.probe import Trouble
from tsguard.runtime.worker.inputs.repairs import made_divisible, suspected
from tsguard.runtime.worker.inputs.specs import Guess


def by_condition(guess: Guess, trouble: Trouble) -> Iterator[Move]:
    """Repairs from the comparison that a failed check made."""
    for condition in violated(trouble.frame, trouble.line):
        yield from _ending_alike(guess, condition)
        for got, want, divisor in _wishes(condition):
            if divisor is not None:
                yield from made_divisible(guess, trouble, got, divisor)
                continue
            for cost, repaired in moves.resizes(guess, suspected(guess, trouble), got, want):
                yield cost, repaired
            if max(got, want) <= 6:
                for cost, repaired in moves.ranked(guess, suspected(guess, trouble), want):
                    yield 0.05 + cost, repaired


def _ending_alike(guess: Guess, condition: Condition) -> Iterator[Move]:
    """Tensors whose last sizes are one side of a comparison, with the other side in their place."""
    sides = (condition.left, condition.right)
    for got, want in (sides, sides[::-1]):
        if not isinstance(got, list) or not isinstance(want, list) or not got or got == want:
            continue
        for name, spec in guess.tensors().items():
            if spec.shape[-len(got) :] == tuple(got):
                yield 0.0, guess.with_spec(name, spec.of((*spec.shape[: -len(got)], *want)))


def _wishes(condition: Condition) -> Iterator[tuple[int, int, int | None]]:
    """Pairs of a size as it is and as it should be, or a size and what should divide it."""
    left, right = condition.left, condition.right
    if isinstance(left, int) and isinstance(right, int):
        if condition.divisor is not None:
            yield left, left, condition.divisor
            return
        step = {"<": -1, ">": 1}.get(condition.operator, 0)
        yield left, right + step, None
        yield right, left - step, None
    elif isinstance(left, list) and isinstance(right, list):
        for a, b in zip(left, right, strict=False):
            if a != b:
                yield a, b, None
                yield b, a, None
        if len(left) != len(right):
            yield len(left), len(right), None
