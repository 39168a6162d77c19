"""A call of a function of torch with stand-ins among its arguments, and shapes made from others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from tsguard.runtime.worker.inputs.demands.shapes import Shape, Size, fixed, unite
from tsguard.runtime.worker.inputs.demands.standins import Session, StandIn, kind_of, stand_in
from tsguard.runtime.worker.inputs.specs import Kind
from tsguard.runtime.worker.values import tensors


class Unmodelled(Exception):
    """What comes out cannot be told of open sizes: it is computed of usual ones."""


@dataclass(frozen=True, slots=True)
class Operation:
    """A call of a function of torch."""

    function: Callable[..., Any]
    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    session: Session

    def given(self, place: int, name: str, default: Any = None) -> Any:
        return self.args[place] if place < len(self.args) else self.kwargs.get(name, default)

    def tensor(self, place: int, name: str) -> Tensor:
        found = self.given(place, name)
        if not isinstance(found, Tensor):
            raise Unmodelled(name)
        return found

    def open(self, place: int, name: str = "input") -> StandIn:
        """An argument that is a stand-in."""
        found = self.given(place, name)
        if not isinstance(found, StandIn):
            raise Unmodelled(name)
        return found

    def numbers(self, place: int, name: str) -> list[Any]:
        """Integers that are given one by one or as a sequence."""
        first = self.given(place, name, ())
        found = first if isinstance(first, (tuple, list)) else self.args[place:]
        return list(found)

    def result(self, shape: Shape, like: Any = None, kind: Kind = "float") -> StandIn:
        """A stand-in; of the same input as ``like`` where it is a part or another view of that."""
        if isinstance(like, StandIn):
            return stand_in(shape, self.session, like.origin, kind_of(like))
        sources = [t.sources for t in tensors((self.args, self.kwargs)) if isinstance(t, StandIn)]
        return stand_in(shape, self.session, None, kind, frozenset().union(*sources))


Model = Callable[[Operation], Any]


def shape_of(tensor: Tensor) -> Shape:
    return tensor.shape_now if isinstance(tensor, StandIn) else fixed(tensor.shape)


def kind_of_values(tensor: Tensor) -> Kind:
    if isinstance(tensor, StandIn):
        return kind_of(tensor)
    if tensor.dtype is torch.bool:
        return "bool"
    return "float" if tensor.dtype.is_floating_point or tensor.dtype.is_complex else "int"


def must_be(tensor: Any, kind: Kind, *highs: Size | int) -> None:
    """The input that a tensor is, or the inputs that it is computed of, are of a kind."""
    if isinstance(tensor, StandIn) and tensor.origin is not None:
        tensor.origin.must_be(kind, *highs)
    elif isinstance(tensor, StandIn) and kind == "int" and kind_of(tensor) == "float":
        for source in tensor.sources:
            source.must_be(kind)
        tensor.kind_now = kind
    elif isinstance(tensor, StandIn) and kind == "float" and kind_of(tensor) == "int":
        for source in tensor.sources:
            if source.usual_kind == "int":
                source.must_be(kind)


def appended(shape: Shape, *sizes: Size) -> Shape:
    now = shape.now()
    usual = (*now.usual, *(size.likely() for size in sizes)) if now.usual else ()
    if now.rest is None:
        return Shape((*now.front, *sizes))
    return Shape(now.front, now.rest, (*now.back, *sizes), usual)


def without_last(shape: Shape, count: int) -> Shape:
    for place in range(count):
        shape.at(-1 - place)
    now = shape.now()
    if now.rest is None:
        return Shape(now.front[: len(now.front) - count])
    return Shape(now.front, now.rest, now.back[: len(now.back) - count], now.usual[:-count])


def replaced(shape: Shape, dim: int, size: Size) -> Shape:
    shape.at(dim)
    now = shape.now()
    front, back = list(now.front), list(now.back)
    if now.rest is None or dim >= 0:
        front[dim] = size
    else:
        back[dim] = size
    return Shape(tuple(front), now.rest, tuple(back), now.usual)


def inserted(shape: Shape, dim: int, size: Size) -> Shape:
    if dim > 0:
        shape.at(dim - 1)
    elif dim < -1:
        shape.at(dim + 1)
    now = shape.now()
    if now.rest is None:
        place = dim if dim >= 0 else len(now.front) + 1 + dim
        return Shape((*now.front[:place], size, *now.front[place:]))
    where = dim if dim >= 0 else len(now.usual) + 1 + dim
    usual = (*now.usual[:where], size.likely(), *now.usual[where:]) if now.usual else ()
    if dim >= 0:
        return Shape((*now.front[:dim], size, *now.front[dim:]), now.rest, now.back, usual)
    place = len(now.back) + 1 + dim
    return Shape(now.front, now.rest, (*now.back[:place], size, *now.back[place:]), usual)


def removed(shape: Shape, dims: Iterable[int], *, apart: bool = False) -> Shape:
    wanted = list(dims)
    for dim in wanted:
        shape.at(dim, apart=apart)
    now = shape.now()
    if now.rest is None:
        gone = {dim % len(now.front) for dim in wanted}
        return Shape(tuple(size for place, size in enumerate(now.front) if place not in gone))
    front = tuple(size for place, size in enumerate(now.front) if place not in wanted)
    back = tuple(size for place, size in enumerate(now.back) if place - len(now.back) not in wanted)
    count = len(now.usual)
    usual = tuple(
        n for place, n in enumerate(now.usual) if place not in wanted and place - count not in wanted
    )
    return Shape(front, now.rest, back, usual)


def unite_but(shape: Shape, other: Shape, dim: int) -> None:
    """All sizes but one are the same."""
    for one, rank in ((shape, other.rank()), (other, shape.rank())):
        if rank is not None:
            one.close(rank)
    unite(replaced(shape, dim, Size(1, 1)), replaced(other, dim, Size(1, 1)))
