"""Changes to a guess: another size, rank or kind for the tensors of some parameters."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from tsguard.runtime.budgets import LARGEST_INPUT
from tsguard.runtime.worker.inputs.specs import (
    BATCH,
    Argument,
    Guess,
    Kind,
    SequenceSpec,
    Spec,
    TensorSpec,
    Verbatim,
)

Move = tuple[float, Guess]
Change = Callable[[TensorSpec], TensorSpec]


def changed(guess: Guess, names: Iterable[str], change: Change) -> Guess:
    """Every tensor of these parameters, or parts of parameters, changed; those inside containers too."""
    wanted = tuple(names)

    def sane(path: str, spec: Spec) -> Spec:
        if not isinstance(spec, TensorSpec) or not any(_is_in(path, name) for name in wanted):
            return spec
        fresh = change(spec)
        fits = all(size > 0 for size in fresh.shape) and math.prod(fresh.shape) <= LARGEST_INPUT
        return fresh if fits else spec

    return guess.mapped(sane)


def _is_in(path: str, name: str) -> bool:
    return path == name or (path.startswith(name) and path[len(name)] in "[.")


def implausibility(guess: Guess) -> float:
    """How odd the shapes are: images that are not square, batches that differ."""
    found = guess.tensors().values()
    crooked = any(len(s.shape) >= 4 and s.shape[-1] != s.shape[-2] for s in found)
    batches = {s.shape[0] for s in found if s.shape}
    return 0.8 * crooked + 0.3 * (len(batches) > 1) + 0.2 * bool(batches - {BATCH})


def single(guess: Guess) -> Guess:
    """Batches and lists of one."""
    # What lies in a container has no batch to speak of.
    whole = [a.name for a in guess.arguments if isinstance(a.spec, TensorSpec)]
    smaller = changed(guess, whole, sized(0, 1))
    return Guess(tuple(replace(a, spec=_first_only(a.spec)) for a in smaller.arguments))


def _first_only(spec: Spec) -> Spec:
    if isinstance(spec, SequenceSpec) and not spec.is_tuple:
        return replace(spec, items=spec.items[:1])
    return spec


def groups(names: Iterable[str]) -> list[tuple[str, ...]]:
    """Each parameter alone, and all together where there are several."""
    found = sorted(set(names) - {""})
    return [*((name,) for name in found), *([tuple(found)] if len(found) > 1 else [])]


def resizes(guess: Guess, names: Iterable[str], got: int, want: int) -> Iterator[Move]:
    """Guesses in which what came out as ``got`` may come out as ``want``."""
    if got == want or want < 0:
        return
    several = len(set(names) - {""}) > 1
    for group in groups(names):
        for cost, change in _size_changes(got, want):
            yield cost, changed(guess, group, change)
        if several:
            # One of several that were joined has to make up for it.
            yield 0.55, changed(guess, group, lambda s: _with_difference(s, -1, want - got))
            yield 0.58, changed(guess, group, lambda s: _with_difference(s, 1, want - got))


def _size_changes(got: int, want: int) -> Iterator[tuple[float, Change]]:
    def matching(dims: Callable[[int], bool]) -> Change:
        return lambda s: _resized_all(s, [i for i, n in enumerate(s.shape) if n == got and dims(i)], want)

    yield 0.0, lambda s: s.resized(-1, want) if s.shape and s.shape[-1] == got else s
    yield 0.1, matching(lambda dim: dim == 1)
    yield 0.2, matching(lambda dim: dim > 0)
    yield 0.3, functools.partial(squared, got=got, want=want)
    yield 0.5, matching(lambda dim: True)
    yield 0.6, lambda s: _scaled_last(s, got, want)
    for dim in (1, 2):
        yield 0.6, functools.partial(in_proportion, dim=dim, wanted=want, have=got)
    for extra in (0, 1, 2):
        yield 0.7 + extra / 10, functools.partial(scaled_area, got=got - extra, want=want - extra)
    yield 0.8, lambda s: _scaled_sides(s, got, want)


def _with_difference(spec: TensorSpec, dim: int, more: int) -> TensorSpec:
    return spec.resized(dim, spec.shape[dim] + more) if -len(spec.shape) <= dim < len(spec.shape) else spec


def sized(dim: int, size: int) -> Change:
    """A change that gives one dimension another size, where there is that dimension."""
    return lambda s: s.resized(dim, size) if -len(s.shape) <= dim < len(s.shape) else s


def pictured(height: int, width: int) -> Change:
    """A change of the height and width of images."""
    return lambda s: s.of((*s.shape[:-2], height, width)) if len(s.shape) >= 4 else s


def filmed(frames: int, side: int) -> Change:
    """A change of the length and size of films."""
    return lambda s: s.of((*s.shape[:2], frames, side, side)) if len(s.shape) == 5 else s


def as_long(length: int) -> Change:
    """A change of the length of sequences."""
    return lambda s: s.resized(1, length) if len(s.shape) == 3 else s


def of_rank(rank: int) -> Change:
    """A change of the number of dimensions."""
    return lambda s: with_rank(s, rank)


def _resized_all(spec: TensorSpec, dims: list[int], size: int) -> TensorSpec:
    for dim in dims:
        spec = spec.resized(dim, size)
    return spec


def _scaled_last(spec: TensorSpec, got: int, want: int) -> TensorSpec:
    """The last size in proportion, where what came out is a multiple or part of it."""
    if not spec.shape or got == 0:
        return spec
    size = spec.shape[-1] * want
    return spec.resized(-1, size // got) if size % got == 0 and size else spec


def in_proportion(spec: TensorSpec, dim: int, wanted: int, have: int) -> TensorSpec:
    """One size in proportion, where that gives a whole number."""
    if not -len(spec.shape) <= dim < len(spec.shape) or not have:
        return spec
    size, rest = divmod(spec.shape[dim] * wanted, have)
    return spec.resized(dim, size) if size and not rest else spec


def squared(spec: TensorSpec, got: int, want: int) -> TensorSpec:
    """Two equal neighbouring sizes whose product is ``got``, such that it is ``want`` (windows)."""
    side = math.isqrt(max(want, 0))
    for dim in range(1, len(spec.shape) - 1):
        pair = spec.shape[dim : dim + 2]
        if pair[0] == pair[1] and pair[0] * pair[1] == got and side * side == want:
            return spec.resized(dim, side).resized(dim + 1, side)
    return spec


def scaled_area(spec: TensorSpec, got: int, want: int) -> TensorSpec:
    """Height and width such that their product grows in proportion (flattened images, patches)."""
    if len(spec.shape) < 4 or got <= 0 or want <= 0:
        return spec
    height, width = spec.shape[-2:]
    ratio = math.sqrt(want / got)
    sides = round(height * ratio), round(width * ratio)
    return spec.of((*spec.shape[:-2], *sides)) if min(sides) > 0 else spec


def _scaled_sides(spec: TensorSpec, got: int, want: int) -> TensorSpec:
    """Height and width in proportion (feature maps)."""
    if len(spec.shape) < 4 or got <= 0 or want <= 0:
        return spec
    sides = [size * want // got for size in spec.shape[-2:]]
    return spec.of((*spec.shape[:-2], *sides)) if min(sides) > 0 else spec


def with_rank(spec: TensorSpec, rank: int) -> TensorSpec:
    """The same tensor with more or fewer dimensions, its last size kept as channels fit."""
    shape = spec.shape
    if len(shape) == rank:
        return spec
    if rank == 0:
        return spec.of(())
    batch = shape[0] if shape else 2
    width = shape[-1] if shape else 16
    channels = shape[1] if len(shape) >= 4 else width
    table = {
        1: (batch,),
        2: (batch, channels if len(shape) < 4 else width),
        3: (batch, 16, channels) if len(shape) != 3 else shape,
        4: (batch, channels, 16, 16) if len(shape) < 4 else (batch, channels, *shape[-2:]),
        5: (batch, channels, 8, *(shape[-2:] if len(shape) == 4 else (16, 16))),
        6: (batch, channels, 4, 4, 4, 4),
    }
    return spec.of(table.get(rank, shape))


def ranked(guess: Guess, names: Iterable[str], rank: int) -> Iterator[Move]:
    """Guesses with another number of dimensions."""
    for group in groups(names):
        yield 0.1, changed(guess, group, lambda spec: with_rank(spec, rank))


def of_kind(guess: Guess, names: Iterable[str], kind: Kind, high: int = 0) -> Iterator[Move]:
    """Guesses with another kind of values; integers below ``high`` where it is given."""

    def change(spec: TensorSpec) -> TensorSpec:
        shape = (
            spec.shape[:2] if kind == "int" and spec.kind == "float" and len(spec.shape) == 3 else spec.shape
        )
        return replace(spec, kind=kind, high=high or spec.high, shape=shape)

    for group in groups(names):
        yield 0.1, changed(guess, group, change)
        if kind == "int":
            yield 0.3, changed(guess, group, lambda s: replace(s, kind="int", high=high or s.high))


def given(guess: Guess, name: str, spec: Spec, keyword: bool) -> Guess:
    """The guess with one more argument, or with this one replaced."""
    if guess.get(name) is not None:
        return guess.with_spec(name, spec)
    return Guess((*guess.arguments, Argument(name, spec, keyword)))


def replaced(guess: Guess, name: str, text: str) -> Guess:
    """The guess with a literal value for one parameter."""
    return guess.with_spec(name, Verbatim(text))


def in_dtype(guess: Guess, dtype: str) -> Guess:
    """All random tensors of another dtype than torch's usual one; "" leaves them as they are."""
    if not dtype:
        return guess
    return changed(
        guess,
        [argument.name for argument in guess.arguments],
        lambda spec: replace(spec, dtype=dtype) if spec.kind == "float" else spec,
    )
