"""Shapes that are not decided yet: sizes that are found out later, and any number of dimensions in the middle."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tsguard.runtime.worker.inputs.specs import BATCH, LENGTH


class Contradiction(Exception):
    """Two demands that no shape fulfils."""


@dataclass(eq=False, slots=True)
class Size:
    """One size; ``usual`` is taken where nothing demands another, and is at least ``least``.

    ``parts`` are the sizes that it is the sum of, ``factors`` those that it is the product of, ``names`` the inputs that it belongs to;
    ``channels`` tells that tensors are joined along it, ``read`` that indices reach into it.
    """

    usual: int = LENGTH
    value: int | None = None
    least: int = 1
    parts: tuple[Size, ...] = ()
    factors: tuple[Size, ...] = ()
    names: tuple[str, ...] = ()
    channels: bool = False
    read: bool = False
    same: Size | None = None

    def now(self) -> Size:
        """The size that this one has turned out to be."""
        return self if self.same is None else self.same.now()

    def known(self) -> int | None:
        size = self.now()
        if size.value is None and size.parts:
            parts = [part.known() for part in size.parts]
            if None not in parts:
                size.value = sum(part for part in parts if part is not None)
        elif size.value is None and size.factors:
            factors = [factor.known() for factor in size.factors]
            if None not in factors:
                size.value = math.prod(factor for factor in factors if factor is not None)
        return size.value

    def likely(self) -> int:
        """Its value, or the usual one as long as that is open."""
        size, known = self.now(), self.known()
        if known is not None:
            return known
        if size.factors:
            return math.prod(factor.likely() for factor in size.factors)
        return sum(part.likely() for part in size.parts) or max(size.usual, size.least)

    def must_be(self, value: int) -> None:
        size, known = self.now(), self.known()
        if known is not None and known != value:
            raise Contradiction(f"{known} and {value}")
        if value < 1:
            raise Contradiction(f"a size of {value}")
        size.value = value
        _settle(size)
        _split(size)

    def unite(self, other: Size) -> Size:
        """Both are one size."""
        left, right = self.now(), other.now()
        if left is right:
            return left
        a, b = left.known(), right.known()
        if a is not None and b is not None and a != b:
            raise Contradiction(f"{a} and {b}")
        if left.parts and right.parts:
            return _unite_sums(left, right)
        if left.factors and len(left.factors) == len(right.factors) and a is None and b is None:
            for one, another in zip(left.factors, right.factors, strict=True):
                one.unite(another)
        kept, gone = (right, left) if right.parts or (right.factors and not left.parts) else (left, right)
        gone.same, kept.least = kept, max(kept.least, gone.least)
        kept.names, kept.channels = (*kept.names, *gone.names), kept.channels or gone.channels
        usual = max(kept.usual, gone.usual) if kept.read or gone.read else min(kept.usual, gone.usual)
        kept.read, kept.usual = kept.read or gone.read, max(usual, kept.least)
        for value in (a, b):
            if value is not None:
                kept.must_be(value)
        return kept

    def decide(self, hints: dict[str, int]) -> int:
        """Its value from now on."""
        size, known = self.now(), self.known()
        if size.parts:
            _divide(size, hints)
            known = size.known()
        for factor in size.factors if known is None else ():
            factor.decide(hints)
        if size.known() is None:
            size.must_be(max(size.usual, size.least))
        return size.known() or 1


def _unite_sums(left: Size, right: Size) -> Size:
    """Two sums are one size: so are what is left of them without the parts that both have."""
    mine, theirs = (Counter(_part_key(part) for part in side.parts) for side in (left, right))
    if mine != theirs:
        rests = [list((one - other).elements()) for one, other in ((mine, theirs), (theirs, mine))]
        if len(rests[0]) == len(rests[1]) == 1:
            one, other = (part if isinstance(part, Size) else Size(part, part) for (part,) in rests)
            one.unite(other)
    right.same = left
    if left.value is None and right.value is not None:
        left.must_be(right.value)
    return left


def _part_key(part: Size) -> Size | int:
    known = part.known()
    return part.now() if known is None else known


def _settle(size: Size) -> None:
    """The one part of a sum that is not known is the rest of it."""
    if size.value is None or not size.parts:
        return
    open_parts = Counter(part.now() for part in size.parts if part.known() is None)
    rest = size.value - sum(part.known() or 0 for part in size.parts)
    if len(open_parts) == 1 and rest:
        [(part, times)] = open_parts.items()
        if rest < times or rest % times:
            raise Contradiction(f"{rest} in {times} parts")
        part.must_be(rest // times)


def _split(size: Size) -> None:
    """The one factor that is not known."""
    unknown = [factor for factor in size.factors if factor.known() is None]
    if size.value is not None and len(unknown) == 1:
        known = math.prod(factor.known() or 1 for factor in size.factors)
        if size.value % known:
            raise Contradiction(f"{size.value} in parts of {known}")
        unknown[0].must_be(size.value // known)


def _divide(size: Size, hints: dict[str, int]) -> None:
    """Values for the parts of a sum: by sizes with names like theirs, else in equal parts."""
    parts = dict.fromkeys(part.now() for part in size.parts)
    for part in sorted(parts, key=lambda part: hinted(part, hints) is None):
        if size.value is None:
            part.decide(hints)
        elif part.known() is None:
            rest = size.value - sum(p.known() or 0 for p in size.parts)
            open_parts = [p.now() for p in size.parts if p.known() is None]
            wanted = hinted(part, hints)
            times = open_parts.count(part)
            if len(set(open_parts)) > 1:
                most = rest - (len(open_parts) - times)
                share = wanted if wanted is not None and times * wanted <= most else rest // len(open_parts)
                part.must_be(share)
            _settle(size)


def hinted(size: Size, hints: dict[str, int]) -> int | None:
    """The size of the hint that is called like an input that it belongs to: ``action_dim`` for ``actions``."""
    for name in size.now().names:
        for hint, value in hints.items():
            if len(name) > 2 and (hint.startswith(name.removesuffix("s")) or name.startswith(_stem(hint))):
                return value
    return None


def _stem(hint: str) -> str:
    first = hint.partition("_")[0]
    return first if len(first) > 2 and first != hint else "\0"


@dataclass(eq=False, slots=True)
class Rest:
    """Any number of dimensions; ``bound`` is what they turned out to be.

    ``looked_up`` tells that they are of indices: what follows them is looked up, and none of them.
    """

    bound: Shape | None = None
    looked_up: bool = False


@dataclass(eq=False, slots=True)
class Shape:
    """The first sizes, ``rest`` in the middle where the number of dimensions is open, and the last ones.

    ``usual`` are sizes that it has most often, ``otherwise`` those that it has if nothing at all is known of it.
    """

    front: tuple[Size, ...] = ()
    rest: Rest | None = None
    back: tuple[Size, ...] = ()
    usual: tuple[int, ...] = ()
    otherwise: tuple[int, ...] = ()

    def now(self) -> Shape:
        front, rest, back = self.front, self.rest, self.back
        while rest is not None and rest.bound is not None:
            inner = rest.bound
            front, rest, back = (*front, *inner.front), inner.rest, (*inner.back, *back)
        if rest is None:
            front, back = (*front, *back), ()
        return Shape(front, rest, back, self.usual, self.otherwise)

    def rank(self) -> int | None:
        shape = self.now()
        return len(shape.front) if shape.rest is None else None

    def at(self, place: int, *, apart: bool = False) -> Size:
        """The size of a dimension, which there is from now on.

        Args:
            apart: it is none of the last sizes that are known.

        Raises:
            IndexError: there are fewer.
        """
        shape = self.now()
        if shape.rest is None:
            return shape.front[place].now()
        if place < 0 and not shape.back and len(shape.front) > 1 and shape.front[-1].now().channels:
            # Joined along a dimension that then is the last one, as rows are.
            self.close(len(shape.front))
            return self.at(place)
        ends = len(shape.front) + len(shape.back)
        usual = len(shape.usual) if len(shape.usual) < 4 else 0  # a picture is convolved, which tells
        if (
            place >= max(1, len(shape.front))
            and shape.back
            and not (apart or (shape.rest.looked_up and not usual))
        ):
            # As many dimensions as usual, or as few as there can be.
            self.close(max(place + 1, ends, usual))
            return self.at(place)
        if len(shape.front) > 1 and shape.back and place == -1 - len(shape.back):
            self.close(max(ends, usual))
            return self.at(place)
        known = shape.front if place >= 0 else shape.back[::-1]
        index = place if place >= 0 else -1 - place
        while index >= len(known):
            fresh, inner = (
                Size(_usual_at(self.usual, len(known) if place >= 0 else -1 - len(known))),
                Rest(None, shape.rest.looked_up),
            )
            shape.rest.bound = Shape((fresh,), inner) if place >= 0 else Shape((), inner, (fresh,))
            shape = self.now()
            assert shape.rest is not None
            known = shape.front if place >= 0 else shape.back[::-1]
        return known[index].now()

    def close(self, rank: int, usual: Sequence[int] = ()) -> None:
        """It has so many dimensions, of usual sizes where these are open.

        Raises:
            Contradiction: it has more, or others.
        """
        shape = self.now()
        missing = rank - len(shape.front) - len(shape.back)
        if missing < 0 or (shape.rest is None and missing):
            raise Contradiction(f"{rank} dimensions")
        if shape.rest is not None:
            first = len(shape.front)
            wanted = next((w for w in (self.usual, usual, self.otherwise) if len(w) == rank), ())
            shape.rest.bound = Shape(tuple(Size(_usual_at(wanted, p)) for p in range(first, first + missing)))

    def likely_rank(self) -> int:
        """The usual number of dimensions, where it can have that, else the fewest with a batch."""
        shape = self.now()
        least = len(shape.front) + len(shape.back)
        if shape.rest is None:
            return least
        if not least and self.otherwise and not self.usual:
            return len(self.otherwise)
        if self.usual and len(self.usual) >= least:
            return len(self.usual)
        return least + (not shape.front and len(shape.back) < 2)

    def decide(self, hints: dict[str, int]) -> tuple[int, ...]:
        """Its sizes from now on."""
        self.close(self.likely_rank())
        return tuple(size.decide(hints) for size in self.now().front)


def _usual_at(sizes: Sequence[int], place: int) -> int:
    if -len(sizes) <= place < len(sizes):
        return sizes[place]
    return BATCH if place == 0 else LENGTH


def fixed(sizes: Sequence[int]) -> Shape:
    return Shape(tuple(Size(size, size) if size > 0 else Size(1, 1) for size in map(int, sizes)))


def unite(left: Shape, right: Shape) -> None:
    """Both are one shape.

    Raises:
        Contradiction: they cannot be.
    """
    a, b = left.now(), right.now()
    if a.rest is None and b.rest is not None:
        a, b, left, right = b, a, right, left
    if b.rest is None:
        left.close(len(b.front))
    elif a.rest is not None:
        _align(left, right)
        if left.rank() is not None or right.rank() is not None:
            left.close(right.rank() or left.rank() or 0)
            right.close(left.rank() or 0)
    a, b = left.now(), right.now()
    for one, other in zip((*a.front, *a.back), (*b.front, *b.back), strict=True):
        one.unite(other)


def broadcast(left: Shape, right: Shape) -> Shape:
    """What an operation by elements makes of both; open sizes are taken to be the same.

    Raises:
        Contradiction: they do not go together.
    """
    a, b = left.now(), right.now()
    if a.rest is not None and b.rest is not None:
        _align(left, right)
    elif a.rest is not None or b.rest is not None:
        known, open_one = (a, right) if b.rest is not None else (b, left)
        return _broadcast_into(open_one, known)
    a, b = left.now(), right.now()
    longer, shorter = (a, b) if len(a.front) >= len(b.front) else (b, a)
    offset = len(longer.front) - len(shorter.front)
    ends = [_together(one, other) for one, other in zip(longer.front[offset:], shorter.front, strict=True)]
    backs = [_together(one, other) for one, other in zip(longer.back, shorter.back, strict=True)]
    usual = longer.usual if len(longer.usual) >= len(shorter.usual) else shorter.usual
    return Shape((*longer.front[:offset], *ends), longer.rest, tuple(backs), usual)


def _broadcast_into(open_one: Shape, known: Shape) -> Shape:
    """An open shape beside one of which all sizes are there."""
    now, usual = open_one.now(), len(open_one.usual)
    count = min(len(known.front), open_one.likely_rank()) if usual else len(known.front)
    if count > 1 and count >= len(now.front) + len(now.back) and count == len(known.front):
        open_one.close(count)
    ends = known.front[len(known.front) - count :]
    found = [_together(open_one.at(place), ends[place]) for place in range(-1, -1 - count, -1)][::-1]
    now = open_one.now()
    if now.rest is None:
        return Shape((*now.front[: len(now.front) - count], *found))
    return Shape(now.front, now.rest, (*now.back[: len(now.back) - count], *found), now.usual)


def _align(left: Shape, right: Shape) -> None:
    """Two open shapes with as many first and last sizes, and the same in the middle."""
    if left.usual and len(left.usual) == len(right.usual):
        left.close(left.likely_rank())
        right.close(right.likely_rank())
    for shape, other in ((left, right.now()), (right, left.now())):
        if other.front and other.rest is not None and shape.rank() is None:
            shape.at(len(other.front) - 1, apart=True)
        while other.rest is not None and len(shape.now().back) < len(other.back) and shape.rank() is None:
            shape.at(-1 - len(shape.now().back))
    a, b = left.now(), right.now()
    if a.rest is not None and b.rest is not None and a.rest is not b.rest:
        a.rest.bound = Shape((), b.rest)


def _together(one: Size, other: Size) -> Size:
    if one.known() == 1:
        return other.now()
    return one.now() if other.known() == 1 else one.unite(other)
