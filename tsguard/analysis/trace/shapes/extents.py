"""The shape of a tensor: its dimensions, each a formula or unknown, and whether there are more."""

from __future__ import annotations

from collections.abc import Iterable

from tsguard.analysis.trace.shapes.dims import ONE, Dim, Symbol, number, symbol_dim
from tsguard.report.records import dataclass


@dataclass(frozen=True, slots=True)
class Lead:
    """Dimensions of unknown number: those of ``tensor`` (None: of whatever) but for its last ``dropped``.

    ``head`` are the first of them, where no more than those are known.
    """

    tensor: Symbol | None = None
    dropped: int = 0
    head: tuple[Dim | None, ...] = ()

    @property
    def first(self) -> Dim | None:
        """The first of those that are known without the tensor."""
        return self.head[0] if self.head else None


@dataclass(frozen=True, slots=True)
class Extent:
    """The dimensions of a tensor, None for one that is unknown; the last ones where a ``lead`` tells of more."""

    dims: tuple[Dim | None, ...] = ()
    lead: Lead | None = None

    @property
    def rank(self) -> int | None:
        return len(self.dims) if self.lead is None else None

    def position(self, index: int) -> int | None:
        """Where an index counts to among ``dims``, from the end; None where there is none known."""
        if index >= 0:
            index = index - len(self.dims) if self.lead is None else 0
        return index if -len(self.dims) <= index < 0 else None

    def at(self, index: int) -> Dim | None:
        """One dimension, as Python counts."""
        position = self.position(index)
        if position is not None:
            return self.dims[position]
        if self.lead is None or self.lead.tensor is None:
            head = () if self.lead is None else self.lead.head
            return head[index] if 0 <= index < len(head) else None
        if index < 0:
            return dimension(self.lead.tensor, index + len(self.dims) - self.lead.dropped)
        return dimension(self.lead.tensor, index) if not self.dims else None

    @property
    def first(self) -> Dim | None:
        """The first dimension; of a tensor of unknown rank, what it is if not all have been left out."""
        if self.lead is not None and self.lead.tensor is not None:
            return dimension(self.lead.tensor, 0)
        return self.at(0)

    def last(self, count: int) -> tuple[Dim | None, ...]:
        """The last dimensions, of which there are at least so many."""
        return tuple(self.at(index) for index in range(-count, 0))

    def without_last(self, count: int) -> Extent:
        """The dimensions before the last ones."""
        if self.lead is None or count <= len(self.dims):
            return Extent(self.dims[: len(self.dims) - count], self.lead)
        dropped = self.lead.dropped + count - len(self.dims)
        is_named = self.lead.tensor is not None
        return Extent((), Lead(self.lead.tensor, dropped if is_named else 0, self.lead.head[:1]))

    def followed_by(self, *dims: Dim | None) -> Extent:
        return Extent((*self.dims, *dims), self.lead)

    def with_last(self, *dims: Dim | None) -> Extent:
        """The same but for the last dimensions."""
        return self.without_last(len(dims)).followed_by(*dims)

    def replaced(self, index: int, *dims: Dim | None) -> Extent | None:
        """The same with others in the place of one dimension; None where that cannot be told."""
        if index >= 0 and self.lead is not None:
            return beginning(*map(self.at, range(index)), *dims, *map(self.at, range(index + 1, index + 3)))
        index = index - len(self.dims) if index >= 0 else index
        if self.lead is None and -index > len(self.dims):
            return None
        behind = self.last(-index - 1)
        return self.without_last(-index).followed_by(*dims, *behind)


ANY = Extent((), Lead())
"""The shape of a tensor that stands for several."""


def beginning(*head: Dim | None) -> Extent | None:
    """A shape of which only the first dimensions are known, if any of them is."""
    known = max((index for index, dim in enumerate(head, 1) if dim is not None), default=0)
    return Extent((), Lead(head=head[:known])) if known else None


def dimension(tensor: Symbol, index: int) -> Dim:
    """A dimension of a tensor of which no more is known."""
    return symbol_dim(Symbol("input", (tensor, index)))


def named(name: str, rank: int | None = None) -> Extent:
    """The shape of an input."""
    tensor = Symbol("tensor", (name,))
    if rank is None:
        return Extent((), Lead(tensor))
    return Extent(tuple(dimension(tensor, index) for index in range(rank)))


def squeezed(number: int) -> Extent:
    """The shape of a tensor that has lost each dimension of size 1, and of which no more is told."""
    return named(f"?{number} squeezed")


def is_squeezed(tensor: Symbol) -> bool:
    """Whether a tensor is one that has lost each dimension of size 1."""
    return str(tensor.parts[0]).endswith(" squeezed")


def known(sizes: Iterable[int | None]) -> Extent:
    """A shape of numbers."""
    return Extent(tuple(None if size is None else number(size) for size in sizes))


def product(dims: Iterable[Dim | None]) -> Dim | None:
    """The number of elements; None where a dimension is unknown."""
    total = ONE
    for dim in dims:
        if dim is None:
            return None
        total = total.times(dim)
    return total


def broadcast(left: Extent | None, right: Extent | None) -> Extent | None:
    """The shape of an operation over two tensors."""
    if left is None or right is None or left == right:
        return left if left == right else None
    if right.lead is not None or (left.lead is None and len(left.dims) < len(right.dims)):
        left, right = right, left  # now the right one has no more dimensions than the left one may have
    if right.lead is not None:
        count = min(len(left.dims), len(right.dims))
        rows = None if left.lead is None or count else _rows(left.lead, right.lead)
        return Extent(_broadcast(left.last(count), right.last(count)), Lead(head=(rows,)))
    count = len(right.dims)
    if left.lead is None:
        return left.with_last(*_broadcast(left.last(count), right.dims)) if count else left
    # What has been left to the lead may be fewer dimensions than the right one has.
    behind = _broadcast(left.last(count), right.dims)
    if count <= len(left.dims):
        return Extent(left.without_last(count).dims, left.lead).followed_by(*behind)
    return Extent(behind, Lead())


def _rows(left: Lead, right: Lead) -> Dim | None:
    """How many rows both have, where it is the same or only data tells it of each."""
    if left.first is None or right.first is None:
        return None
    are_of_data = left.first.is_of_data and right.first.is_of_data
    return left.first if are_of_data or left.first == right.first else None


def _broadcast(left: tuple[Dim | None, ...], right: tuple[Dim | None, ...]) -> tuple[Dim | None, ...]:
    return tuple(_one(a, b) for a, b in zip(left, right, strict=True))


def _one(left: Dim | None, right: Dim | None) -> Dim | None:
    if left == right or right == ONE:
        return left
    if left == ONE:
        return right
    for dim in (left, right):
        # Whatever goes with two or more is as many, or one.
        if dim is not None and (dim.number or 0) > 1:
            return dim
    if left is None or right is None:
        return None
    if left.is_of_data and right.is_of_data:
        return left
    return next((one for one, other in ((left, right), (right, left)) if other.is_lesser_of(one)), None)


def either(left: Extent | None, right: Extent | None) -> Extent | None:
    """What is known of a tensor that has one of two shapes."""
    if left == right or left is None or right is None:
        return left if left == right else None
    if left.lead is not None or right.lead is not None or len(left.dims) != len(right.dims):
        count = min(len(left.dims), len(right.dims))
        alike = tuple(a if a == b else None for a, b in zip(left.last(count), right.last(count), strict=True))
        return Extent(alike, Lead())
    return Extent(tuple(a if a == b else None for a, b in zip(left.dims, right.dims, strict=True)))
