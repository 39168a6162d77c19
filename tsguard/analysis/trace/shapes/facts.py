"""What must hold of the inputs' sizes, or eager would not take them.

A layer takes so many channels, a check lets one size pass, an unpacking wants three sizes:
whatever else is computed from these dimensions is the same for every input.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tsguard.analysis.trace.shapes.dims import Dim, Monomial, Symbol, number, symbol_dim
from tsguard.analysis.trace.shapes.extents import Extent, dimension, is_squeezed

_RANK = "rank"


def rank_of(tensor: Symbol) -> Dim:
    """The number of dimensions of a tensor, as one that conditions ask for."""
    return symbol_dim(Symbol("input", (tensor, _RANK)))


def is_input(tensor: Symbol) -> bool:
    """Whether a tensor is an input, and not one that the walk came upon."""
    return not str(tensor.parts[0]).startswith("?")


@dataclass(slots=True)
class Facts:
    """The numbers of dimensions of tensors, those that they do not have, and what symbols stand for.

    ``dtype`` is that of inputs of which nothing tells it, where one is taken for granted; ``numbers``
    are the names of inputs without an annotation whose uses told that they are no tensors, ``nothing``
    formulas that come to 0, and tell of no symbol alone.
    """

    ranks: dict[Symbol, int] = field(default_factory=dict)
    pins: dict[Symbol, Dim] = field(default_factory=dict)
    other_ranks: dict[Symbol, frozenset[int]] = field(default_factory=dict)
    dtype: str = ""
    numbers: frozenset[str] = frozenset()
    nothing: list[Dim] = field(default_factory=list)
    _resolved: dict[Dim, Dim] = field(default_factory=dict, compare=False, repr=False)
    _sums: dict[frozenset[tuple[Monomial, int]], int] = field(default_factory=dict, compare=False, repr=False)

    def has_rank_of_sizes(self, shape: Extent | None) -> bool:
        """Whether the sizes of inputs tell how many dimensions there are, as after ``x.squeeze()``."""
        found = None if shape is None else self.extent(shape)
        tensor = None if found is None or found.lead is None else found.lead.tensor
        return tensor is not None and is_squeezed(tensor)

    def copy(self) -> Facts:
        return Facts(
            dict(self.ranks),
            dict(self.pins),
            dict(self.other_ranks),
            self.dtype,
            self.numbers,
            list(self.nothing),
        )

    def has_rank(self, tensor: Symbol, rank: int) -> None:
        """A tensor has so many dimensions."""
        if tensor in self.ranks:
            return
        self.ranks[tensor] = rank
        self._forget()
        for symbol, value in list(self.pins.items()):
            if symbol.parts[0] == tensor and isinstance(index := symbol.parts[1], int) and index < 0:
                self.equal(dimension(tensor, index + rank), value)

    def equal(self, left: Dim, right: Dim) -> None:
        """Two dimensions are the same: a symbol of theirs stands for the rest from now on."""
        difference = self.resolved(left).plus(self.resolved(right), -1)
        for symbol in sorted(set(difference.symbols()), key=lambda symbol: symbol.order):
            factor = dict(difference.terms).get(frozenset({(symbol, 1)}), 0)
            rest = difference.plus(symbol_dim(symbol), -factor)
            value = rest.times(number(-1)).over(number(factor)) if factor else None
            if symbol.kind in ("input", "//") and value is not None and _may_be(value, symbol):
                self.pins[symbol] = value
                self._forget()
                tensor, index = symbol.parts
                if index == _RANK and isinstance(tensor, Symbol) and value.number is not None:
                    self.has_rank(tensor, value.number)
                return
        if difference.number is None and difference not in self.nothing:
            self.nothing.append(difference)
            self._sums.clear()

    def _forget(self) -> None:
        """Put in anew what is known."""
        self._resolved.clear()
        self._sums.clear()

    def resolved(self, dim: Dim) -> Dim:
        """A dimension with all put in that is known of its symbols."""
        if not self.pins and not self.ranks:
            return dim
        result = self._resolved.get(dim)
        if result is None:
            result = dim
            for symbol in set(dim.symbols()):
                value = self._value(symbol)
                if value is not None:
                    result = _replaced(result, symbol, value)
            self._resolved[dim] = result
        return result

    def _value(self, symbol: Symbol) -> Dim | None:
        if symbol.kind == "input":
            tensor, index = symbol.parts
            if isinstance(tensor, Symbol) and isinstance(index, int) and index < 0 and tensor in self.ranks:
                return self.resolved(dimension(tensor, index + self.ranks[tensor]))
        if symbol.kind in ("//", "min"):
            left, right = (self.resolved(part) for part in symbol.parts if isinstance(part, Dim))
            if (left, right) != symbol.parts:
                return left.floor(right) if symbol.kind == "//" else left.lesser(right)
        pinned = self.pins.get(symbol)
        return None if pinned is None else self.resolved(pinned)

    def extent(self, shape: Extent) -> Extent:
        """A shape with all put in that is known of it."""
        if not self.pins and not self.ranks:
            return shape
        lead, dims = shape.lead, shape.dims
        if lead is not None and lead.tensor in self.ranks:
            count = max(0, self.ranks[lead.tensor] - lead.dropped)
            dims = (*(dimension(lead.tensor, index) for index in range(count)), *dims)
            lead = None
        return Extent(tuple(None if dim is None else self.resolved(dim) for dim in dims), lead)

    def number(self, dim: Dim | None) -> int | None:
        """The number that a dimension is for every input; None where it is none that is known."""
        if dim is None:
            return None
        found = self.resolved(dim)
        if found.number is not None or not self.nothing:
            return found.number
        symbols, beside = found.parted()
        opposite = self._opposites().get(symbols)
        return None if opposite is None else beside - opposite

    def _opposites(self) -> dict[frozenset[tuple[Monomial, int]], int]:
        """The numbers that what comes to 0 makes of symbols, in a sum or a difference."""
        if not self._sums:
            for nought in self.nothing:
                for sign in (-1, 1):
                    symbols, beside = self.resolved(nought).parted(sign)
                    self._sums.setdefault(symbols, beside)
        return self._sums

    def takes(self, shape: Extent | None, index: int, wanted: Dim) -> None:
        """An operation takes only tensors that have so many in one dimension."""
        dim = None if shape is None else shape.at(index)
        if dim is not None:
            self.equal(dim, wanted)

    def broadcasts(self, shape: Extent, others: Extent) -> None:
        """An operation takes tensors whose dimensions are as many as those of another one, or one.

        What is computed of a size is not meant to be one; an input's own dimension may be.
        """
        for dim, wanted in zip(reversed(shape.dims), reversed(others.dims), strict=False):
            if dim is not None and wanted is not None and (wanted.number or 0) > 1:
                dim = self.resolved(dim)
                if not dim.is_bare and dim.number is None:
                    self.equal(dim, wanted)

    def takes_rank(self, shape: Extent | None, rank: int) -> Extent | None:
        """An operation takes tensors of this rank; the shape with that known of it."""
        if shape is None or shape.lead is None or rank < len(shape.dims):
            return shape
        if shape.lead.tensor is not None:
            self.has_rank(shape.lead.tensor, rank - len(shape.dims) + shape.lead.dropped)
            return self.extent(shape)
        more = rank - len(shape.dims)
        head = shape.lead.head[:more]
        return Extent((*head, *[None] * (more - len(head)), *shape.dims))


def _may_be(value: Dim, symbol: Symbol) -> bool:
    """Whether a symbol may stand for a value: no negative number, and nothing with itself in it."""
    return (value.number is None or value.number >= 0) and not _holds(value, symbol)


def _holds(value: Dim, symbol: Symbol) -> bool:
    """Whether a symbol is in a value, or in a quotient in it."""
    return any(
        held == symbol or any(_holds(part, symbol) for part in held.parts if isinstance(part, Dim))
        for held in value.symbols()
    )


def _replaced(dim: Dim, symbol: Symbol, value: Dim) -> Dim:
    result = Dim(frozenset())
    for monomial, factor in dim.terms:
        term = number(factor)
        for part, power in monomial:
            for _ in range(power):
                term = term.times(value if part == symbol else symbol_dim(part))
        result = result.plus(term)
    return result
