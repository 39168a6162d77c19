"""Tensors that stand for inputs: what is done with them decides what they are."""

from __future__ import annotations

import dis
import linecache
import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import torch
from torch import Tensor

from tsguard.runtime.budgets import LARGEST_INPUT
from tsguard.runtime.worker.inputs.demands.shapes import Contradiction, Shape, Size
from tsguard.runtime.worker.inputs.specs import LENGTH, Kind
from tsguard.runtime.worker.values import mapped, tensors

MOST_ITEMS = 8
"""Items that a list of inputs may turn out to have."""


@dataclass(eq=False, slots=True)
class Origin:
    """One input: of which kind its values must be, and what integers must stay below.

    ``computed_with`` tells that operations by elements take it, ``added`` that sums do; ``states`` are what it is taken apart into
    by a layer that keeps two.
    """

    name: str
    usual_kind: Kind
    kind: Kind | None = None
    complex: bool = False
    highs: list[Size | int] = field(default_factory=list)
    computed_with: bool = False
    added: bool = False
    states: tuple[StandIn, ...] = ()

    def must_be(self, kind: Kind, *highs: Size | int) -> None:
        self.kind = self.kind or kind
        self.highs += highs
        for high in highs:
            if isinstance(high, Size):
                # Indices into two rows would be dull.
                high.now().usual, high.now().read = max(high.now().usual, LENGTH), True


@dataclass(eq=False, slots=True)
class Session:
    """One run on stand-ins: what performs operations, sizes with names, which help to divide sums, and when to give up."""

    perform: Callable[..., Any]
    hints: dict[str, int]
    deadline: float
    sums: list[Size] = field(default_factory=list)

    def settle(self) -> None:
        """Divide the sums that are known by now."""
        for total in self.sums:
            if total.known() is not None:
                with suppress(Contradiction):
                    total.decide(self.hints)

    def check(self) -> None:
        if time.monotonic() > self.deadline:
            raise Contradiction("the run on stand-ins takes too long")


class StandIn(Tensor):
    """A tensor without values whose shape may be open; ``origin`` is the input that it is, or a part of it."""

    shape_now: Shape
    origin: Origin | None
    kind_now: Kind
    session: Session
    sources: frozenset[Origin]

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        found = [leaf for leaf in tensors((args, kwargs or {})) if isinstance(leaf, StandIn)]
        session = found[0].session
        session.check()
        return session.perform(func, args, kwargs or {}, session)


def stand_in(
    shape: Shape,
    session: Session,
    origin: Origin | None = None,
    kind: Kind = "float",
    sources: frozenset[Origin] = frozenset(),
) -> StandIn:
    made: StandIn = torch.Tensor._make_subclass(StandIn, torch.empty(0))
    made.shape_now, made.session, made.origin, made.kind_now = shape, session, origin, kind
    made.sources = sources if origin is None else frozenset({origin})
    return made


def kind_of(tensor: StandIn) -> Kind:
    return (tensor.origin.kind or tensor.origin.usual_kind) if tensor.origin is not None else tensor.kind_now


class _Open(int):
    """A number that is still open: a comparison may decide it."""

    def __eq__(self, other: object) -> bool:
        return self._is(other, wanted=asserted(sys._getframe(1)))

    def __ne__(self, other: object) -> bool:
        return not self._is(other, wanted=True)

    def __hash__(self) -> int:
        return int.__hash__(self)

    def _is(self, other: object, *, wanted: bool) -> bool:
        """Whether it is this number, which is ``wanted`` where a check is there to be passed."""
        raise NotImplementedError


class Length(_Open):
    """The size of a dimension as Python sees it: a comparison may decide it."""

    size: Size

    def __new__(cls, size: Size) -> Length:
        usual = size.now()
        made = super().__new__(cls, usual.likely())
        made.size = usual
        return made

    def __mul__(self, other: Any) -> Any:
        if type(other) is int and 1 < other <= MOST_ITEMS and self.size.known() is None:
            return Length(Size(parts=(self.size,) * other))
        return int.__mul__(self, other)

    __rmul__ = __mul__

    def __add__(self, other: Any) -> Any:
        if type(other) is int and other > 0 and self.size.known() is None:
            return Length(Size(parts=(self.size, Size(other, other))))
        return int.__add__(self, other)

    __radd__ = __add__

    def _is(self, other: object, *, wanted: bool) -> bool:
        """Checks are there to be passed; other comparisons choose, and then the size is the usual one."""
        if not isinstance(other, int):
            return False
        if wanted:
            try:
                if isinstance(other, Length):
                    self.size.unite(other.size)
                elif self.size.known() is None:
                    self.size.must_be(int(other))
            except Contradiction:
                return False
        mine = self.size.known()
        theirs = other.size.known() if isinstance(other, Length) else int(other)
        if mine is None and isinstance(other, Length) and self.size.now() is other.size.now():
            return True
        return (int(self) if mine is None else mine) == (int(other) if theirs is None else theirs)


class Dimensions(_Open):
    """The number of dimensions, where it is open: a comparison may decide it."""

    shape: Shape

    def __new__(cls, shape: Shape) -> Dimensions:
        made = super().__new__(cls, shape.likely_rank())
        made.shape = shape
        return made

    def _is(self, other: object, *, wanted: bool) -> bool:
        if other == 0:
            return False  # what has elements at all is asked for
        if isinstance(other, int) and self.shape.rank() is None:
            try:
                self.shape.close(int(other) if wanted else int(self))
            except Contradiction:
                return False
        return self.shape.rank() == other


def asserted(frame: FrameType) -> bool:
    """Whether the line that is being run is an assertion."""
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
    return line.startswith(("assert ", "assert(", "torch._assert"))


def unpacked_into(frame: FrameType) -> int | None:
    """How many names what is iterated now, or what a call returns, is taken apart into; None where it is not."""
    now = [i for i in dis.get_instructions(frame.f_code) if i.offset >= frame.f_lasti][:2]
    return next((i.argval for i in now if i.opname == "UNPACK_SEQUENCE"), None)


class Sizes:
    """``x.shape`` where the number of dimensions is open."""

    def __init__(self, shape: Shape) -> None:
        self.of = shape

    def __iter__(self) -> Iterator[Any]:
        count = unpacked_into(sys._getframe(1))
        if self.of.rank() is None:
            self.of.close(self.of.likely_rank() if count is None else count)
        return iter(lengths(self.of))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, int):
            return Length(self.of.at(int(index)))
        return lengths(self.of)[index]

    def __len__(self) -> int:
        return self.of.likely_rank()

    def __eq__(self, other: object) -> bool:
        return tuple(self) == other

    def __hash__(self) -> int:
        return id(self)

    def __getattr__(self, name: str) -> Any:
        return getattr(torch.Size(map(int, lengths(self.of))), name)


def lengths(shape: Shape) -> tuple[Length, ...]:
    if shape.rank() is None:
        shape.close(shape.likely_rank())
    return tuple(Length(size) for size in shape.now().front)


class StandInList(list[Any]):
    """A list of inputs that is as long as the code takes it to be."""

    def __init__(self, make: Callable[[], Any], count: int) -> None:
        super().__init__(make() for _ in range(count))
        self.make = make

    def __getitem__(self, index: Any) -> Any:
        while isinstance(index, int) and len(self) <= index < MOST_ITEMS:
            self.append(self.make())
        return super().__getitem__(index)

    def __iter__(self) -> Iterator[Any]:
        frame = sys._getframe(1)
        count = unpacked_into(frame)
        together = "zip(" in linecache.getline(frame.f_code.co_filename, frame.f_lineno)
        return self._items(count if count is not None else (MOST_ITEMS if together else len(self)))

    def _items(self, count: int) -> Iterator[Any]:
        for place in range(count):
            yield self[place]


class StandInDict(dict[Any, Any]):
    """A dictionary of inputs that has what is asked for."""

    def __init__(self, make: Callable[[Any], Any], items: dict[Any, Any], *, grows: bool) -> None:
        super().__init__(items)
        self.make = make
        self.grows = grows

    def __missing__(self, key: Any) -> Any:
        if not self.grows or len(self) >= MOST_ITEMS:
            raise KeyError(key)
        self[key] = self.make(key)
        return self[key]


def materialised(value: Any) -> Any:
    """A value with real tensors, of the usual sizes where these are open, in the place of stand-ins."""
    return mapped(value, _real)


def _real(tensor: Tensor) -> Tensor:
    if not isinstance(tensor, StandIn):
        return tensor
    tensor.session.settle()
    sizes = tensor.shape_now.decide(tensor.session.hints)
    if math.prod(sizes) > LARGEST_INPUT:
        raise Contradiction("more elements than an input has")
    kind = kind_of(tensor)
    if tensor.origin is not None and tensor.origin.complex:
        return torch.randn(sizes, dtype=torch.complex64)
    if kind == "int":
        return torch.zeros(sizes, dtype=torch.long)
    return torch.ones(sizes, dtype=torch.bool) if kind == "bool" else torch.randn(sizes)
