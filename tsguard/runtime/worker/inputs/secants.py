"""A size that follows from another by a straight line, found by two trials.

What convolutions leave of a length and ``flatten`` puts into one row is such a size: twice the length shows
how it grows, and so for which length it is what the next layer takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tsguard.runtime.worker.inputs.moves import Move
from tsguard.runtime.worker.inputs.probe import Trouble
from tsguard.runtime.worker.inputs.repairs import suspected
from tsguard.runtime.worker.inputs.specs import Guess, TensorSpec

_PRODUCT = re.compile(
    r"mat1 and mat2 shapes cannot be multiplied \(\d+x(?P<got>\d+) and (?P<want>\d+)x\d+\)"
    r"|must be equal to input_size\. Expected (?P<size>\d+), got (?P<was>\d+)"
)


class Secants:
    """The sizes that came out at each place of the code, by the guess that they came out of."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], list[tuple[Guess, int]]] = {}

    def moves(self, guess: Guess, trouble: Trouble) -> Iterator[Move]:
        """Guesses that come of a product of wrong sizes: with what two trials tell, or for a second one."""
        found = _PRODUCT.search(trouble.message)
        if found is None:
            return
        got, want = int(found["got"] or found["was"]), int(found["want"] or found["size"])
        earlier = self._known.setdefault((trouble.line, want), [])
        for other, was in earlier:
            yield from _crossing(guess, got, other, was, want)
        earlier.append((guess, got))
        if len(earlier) == 1:
            yield from _longer(guess, trouble)


def _longer(guess: Guess, trouble: Trouble) -> Iterator[Move]:
    for name, dim, size in _lengths(guess):
        if name in suspected(guess, trouble):
            yield 0.25, _resized(guess, name, dim, 2 * size)


def _crossing(guess: Guess, got: int, other: Guess, was: int, want: int) -> Iterator[Move]:
    """Where the line through two trials that differ in one length meets what is wanted."""
    there = {(name, dim): size for name, dim, size in _lengths(other)}
    differing = [(n, d, size) for n, d, size in _lengths(guess) if there.get((n, d), size) != size]
    if len(differing) != 1 or got == was:
        return
    [(name, dim, size)] = differing
    if _resized(guess, name, dim, there[name, dim]).expressions() != other.expressions():
        return
    steps, rest = divmod((want - got) * (size - there[name, dim]), got - was)
    # Strides round down: then the line meets it between two sizes, or a little beside them.
    for cost, more in enumerate((0, 1, -1, 2) if rest else (0,)):
        if size + steps + more > 0:
            yield -0.5 + cost / 10, _resized(guess, name, dim, size + steps + more)


def _lengths(guess: Guess) -> Iterator[tuple[str, int, int]]:
    """Dimensions beyond the batch of rows and sequences, with their sizes."""
    for name, spec in guess.tensors().items():
        if len(spec.shape) in (2, 3):
            for dim, size in enumerate(spec.shape[1:], 1):
                yield name, dim, size


def _resized(guess: Guess, name: str, dim: int, size: int) -> Guess:
    spec = guess.get(name)
    return guess.with_spec(name, spec.resized(dim, size)) if isinstance(spec, TensorSpec) else guess
