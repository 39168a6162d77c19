"""A tensor's dimension as a formula: a number, or sums and products of what only inputs tell.

Two dimensions are the same where their formulas are; one without symbols is a number, and
one whose symbols are all constructor arguments is the same for every input.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterator
from typing import Literal

from mypy_extensions import mypyc_attr

from tsguard.analysis.budgets import DEEPEST_BOUND, DEEPEST_DIM, DIM_TERMS
from tsguard.report.records import dataclass

Unbacked = Literal["", "maybe", "data"]
"""Whether torch.export has a symbol without a value in the place of a number: no, only if a tensor of which that is
not told holds truths, or for sure, as data tells the number."""


# Compiled, fields whose type is this class would be compared by identity, if their own classes had no say.
@mypyc_attr(allow_interpreted_subclasses=True)
class _Formula:
    __slots__ = ("_hash",)
    _hash: int


@dataclass(frozen=True, slots=True)
class Symbol(_Formula):
    """A number that the source does not tell.

    ``kind`` is "input" (a dimension of a tensor: its name and the index), "argument" (of a
    constructor), "data" (how many elements fulfil a condition), "maybe" (the same if a tensor holds truths, which is not
    told), "//" (a quotient that does not come out even) or "min" (the lesser of two); ``depth`` how many of the last two
    lie within each other.
    """

    kind: str
    parts: tuple[Hashable, ...]
    depth: int = 0

    @property
    def is_found(self) -> bool:
        """Whether it is a dimension of a tensor that the walk came upon, not of an input."""
        tensor = self.parts[0]
        return self.kind == "input" and isinstance(tensor, Symbol) and str(tensor.parts[0]).startswith("?")

    @property
    def order(self) -> tuple[bool, int, str]:
        """Its place among others, the same in every run: inputs first, then what holds the most quotients."""
        return self.kind != "input", -self.depth, str(self)

    def __str__(self) -> str:
        return f"{self.kind}({', '.join(map(str, self.parts))})"

    @property
    def least(self) -> int | None:
        """The least that it stands for where no input is empty; None where that is not told."""
        if self.kind == "input":
            return 0 if self.is_found else 1
        leasts = [part.least() for part in self.parts if isinstance(part, Dim)]
        known = [least for least in leasts if least is not None and least >= 0]
        if not known or len(known) < len(leasts):
            return None
        return min(known) if self.kind == "min" else 0


Monomial = frozenset[tuple[Symbol, int]]
_ONE: Monomial = frozenset()


def _text(monomial: Monomial) -> str:
    return " ".join(sorted([f"{symbol}^{power}" for symbol, power in monomial]))


@dataclass(frozen=True, slots=True)
class Dim(_Formula):
    """A polynomial over symbols with whole coefficients."""

    terms: frozenset[tuple[Monomial, int]]

    def __str__(self) -> str:
        return " + ".join(sorted([f"{factor} {_text(monomial)}" for monomial, factor in self.terms]))

    @property
    def number(self) -> int | None:
        """The number that it is, if it is one."""
        if not self.terms:
            return 0
        [*others, (monomial, factor)] = self.terms
        return factor if not others and not monomial else None

    def parted(self, sign: int = 1) -> tuple[frozenset[tuple[Monomial, int]], int]:
        """What of it, or of its negative, are symbols, and the number beside that."""
        beside = sum(factor for monomial, factor in self.terms if not monomial)
        return frozenset(
            (monomial, sign * factor) for monomial, factor in self.terms if monomial
        ), sign * beside

    @property
    def is_constant(self) -> bool:
        """Whether it is the same for every input."""
        return all(symbol.kind == "argument" for symbol in self.inner_symbols())

    @property
    def is_of_data(self) -> bool:
        """Whether it rests on what tensors hold, as the number of ``x.nonzero()`` does."""
        return self.unbacked == "data"

    @property
    def unbacked(self) -> Unbacked:
        """Whether torch.export has a symbol without a value for it."""
        kinds = {symbol.kind for symbol in self.inner_symbols()}
        return "data" if "data" in kinds else "maybe" if "maybe" in kinds else ""

    def symbols(self) -> Iterator[Symbol]:
        """The symbols that it is made of."""
        for monomial, _ in self.terms:
            for symbol, _ in monomial:
                yield symbol

    def inner_symbols(self) -> Iterator[Symbol]:
        """Its symbols, and those within quotients instead of these."""
        for symbol in self.symbols():
            inner = [part for part in symbol.parts if isinstance(part, Dim)]
            for dim in inner:
                yield from dim.inner_symbols()
            if not inner:
                yield symbol

    def plus(self, other: Dim, times: int = 1) -> Dim:
        """The sum with so many times another."""
        terms = dict(self.terms)
        for monomial, factor in other.terms:
            terms[monomial] = terms.get(monomial, 0) + times * factor
        return _dim(terms)

    def times(self, other: Dim) -> Dim:
        """The product with another."""
        terms: dict[Monomial, int] = {}
        for left, left_factor in self.terms:
            for right, right_factor in other.terms:
                powers = dict(left)
                for symbol, power in right:
                    powers[symbol] = powers.get(symbol, 0) + power
                monomial = frozenset(powers.items())
                terms[monomial] = terms.get(monomial, 0) + left_factor * right_factor
        return _dim(terms)

    def over(self, other: Dim) -> Dim | None:
        """The quotient where it comes out even whatever the symbols stand for; None elsewhere."""
        if len(other.terms) != 1:
            return number(1) if self == other and other.terms else None
        [(divisor, divisor_factor)] = other.terms
        terms: dict[Monomial, int] = {}
        for monomial, factor in self.terms:
            powers = dict(monomial)
            for symbol, power in divisor:
                powers[symbol] = powers.get(symbol, 0) - power
            if factor % divisor_factor or any(power < 0 for power in powers.values()):
                return None
            rest = frozenset((symbol, power) for symbol, power in powers.items() if power)
            terms[rest] = factor // divisor_factor
        return _dim(terms)

    def floor(self, other: Dim) -> Dim | None:
        """The quotient rounded down; None where it is too deep to be told apart."""
        left, right = self.number, other.number
        if left is not None and right:
            return number(left // right)
        even = self.over(other)
        if even is not None or not other.terms:
            return even
        if right is not None and right > 1:
            whole = _dim({monomial: factor // right for monomial, factor in self.terms})
            if whole.terms:  # what is a multiple comes out of the quotient: (n + 3) // 2 is (n + 1) // 2 + 1
                rest = self.plus(whole, -right).floor(other)
                return None if rest is None else whole.plus(rest)
        depth = 1 + max((symbol.depth for dim in (self, other) for symbol in dim.symbols()), default=0)
        return symbol_dim(Symbol("//", (self, other), depth)) if depth <= DEEPEST_DIM else None

    def lesser(self, other: Dim) -> Dim | None:
        """The lesser of two that are not negative; None where it is too deep to be told apart."""
        for dim, beyond in ((self, other), (other, self)):
            more = beyond.plus(dim, -1).least()
            if more is not None and more >= 0:
                return dim
        depth = 1 + max((symbol.depth for dim in (self, other) for symbol in dim.symbols()), default=0)
        first, second = sorted((self, other), key=str)
        return symbol_dim(Symbol("min", (first, second), depth)) if depth <= DEEPEST_DIM else None

    def is_lesser_of(self, dim: Dim) -> bool:
        """Whether it is the lesser of a dimension and another: what goes with both is as many, unless it is one."""
        return any(
            self == symbol_dim(symbol) and symbol.kind == "min" and dim in symbol.parts
            for symbol in self.symbols()
        )

    def rest(self, other: Dim) -> Dim | None:
        """What is left over by the quotient rounded down; None where that is too deep to be told apart."""
        whole = self.floor(other)
        return None if whole is None else self.plus(whole.times(other), -1)

    def least(self) -> int | None:
        """What it is at least for inputs that are not empty; None where nothing says so."""
        plain = self._least_of_terms()
        if (plain is not None and plain > 0) or not any(symbol.kind == "//" for symbol in self.symbols()):
            return plain
        bounded = self._least_of_quotients()
        other = None if bounded is None else bounded.least()
        return plain if other is None else other if plain is None else max(plain, other)

    def _least_of_quotients(self) -> Dim | None:
        """The same with each quotient put at its bound: ``n // m * m`` is more than ``n - m``, and no more than ``n``.

        None where a quotient is not multiplied by what it is divided by, or holds too many others.
        """
        result = self
        for monomial, factor in self.terms:
            for symbol, power in monomial:
                if symbol.kind != "//":
                    continue
                if symbol.depth > DEEPEST_BOUND:
                    return None
                left, right = (part for part in symbol.parts if isinstance(part, Dim))
                term = Dim(frozenset({(monomial, factor)}))
                times = term.over(symbol_dim(symbol).times(right)) if power == 1 else None
                sign = None if times is None else times.number
                if times is None or sign is None or (right.least() or 0) <= 0:
                    return None
                bound = left.plus(right, -1).plus(ONE) if sign > 0 else left
                result = result.plus(term, -1).plus(bound.times(times))
        return result

    def _least_of_terms(self) -> int | None:
        total = 0
        for monomial, factor in self.terms:
            if factor < 0 and monomial:
                return None
            for symbol, power in monomial:
                least = symbol.least
                if least is None:
                    return None
                factor *= least**power
            total += factor
        return total

    @property
    def is_bare(self) -> bool:
        """Whether it is one dimension of a tensor, as it is."""
        return any(self == symbol_dim(symbol) and symbol.kind == "input" for symbol in self.symbols())

    @property
    def is_simple(self) -> bool:
        """Whether there is little enough of it to go on with."""
        return len(self.terms) <= DIM_TERMS


def _dim(terms: dict[Monomial, int]) -> Dim:
    return Dim(frozenset((monomial, factor) for monomial, factor in terms.items() if factor))


@functools.lru_cache(maxsize=1024)
def unknown_constant() -> Dim:
    """A dimension that is the same for every input, though nobody knows what."""
    return symbol_dim(Symbol("argument", (object(),)))


def number(value: int) -> Dim:
    """A dimension that is known."""
    return Dim(frozenset({(_ONE, value)}) if value else frozenset())


def symbol_dim(symbol: Symbol) -> Dim:
    """A dimension that is a symbol and no more."""
    return Dim(frozenset({(frozenset({(symbol, 1)}), 1)}))


ONE = number(1)
