"""Shapes of what a subscript takes of a tensor."""

from __future__ import annotations

from tsguard.analysis import values as py
from tsguard.analysis.trace.shapes.dims import ONE, Dim, number, unknown_constant
from tsguard.analysis.trace.shapes.extents import Extent, Lead, beginning, broadcast
from tsguard.analysis.trace.shapes.operation import Operation, Shaped, extent_of
from tsguard.analysis.trace.shapes.selecting import (
    by_indices,
    is_whole,
    let_through,
    masked,
    masked_first,
    sliced,
)
from tsguard.analysis.trace.values import Traced

_INDICES = (py.TensorValue, py.ListValue, py.TupleValue)


def taken(op: Operation) -> Shaped:
    """``x[key]``: None where a key is a tensor whose effect on the shape is not plain."""
    return masked(op) or by_indices(op) or _by_each(op) or masked_first(op)


def _by_each(op: Operation) -> Shaped:
    """What each key leaves of its dimension."""
    shape, key = op.shape(), op.args[1]
    keys = list(key.items) if isinstance(key, py.TupleValue) else [key]
    if isinstance(key, py.TupleValue) and key.open:
        return _by_rows(op, keys)
    if shape is None:
        return None
    before, after = _around_ellipsis(keys)
    taking = sum(not py.is_none(one) for one in before)
    behind = sum(not py.is_none(one) for one in after)
    if shape.lead is not None:
        if any(not is_whole_slice(one) for one in before) or behind > len(shape.dims):
            return _only_first(op, shape, keys) if not after else _only_last(op, shape, before, after, behind)
        return _only_last(op, shape, (), after, behind)
    if taking + behind > len(shape.dims):
        return None
    if all(any(isinstance(one, _INDICES) for one in side) for side in (before, after)):
        return None
    middle = shape.dims[taking : len(shape.dims) - behind]
    first = _kept(op, before, shape.dims[:taking])
    last = _kept(op, after, shape.dims[len(shape.dims) - behind :])
    return None if first is None or last is None else Extent((*first, *middle, *last))


def _by_rows(op: Operation, keys: list[py.Value]) -> Extent | None:
    """``x[x.nonzero(as_tuple=True)]``: as many come first as each row of indices has."""
    rows = extent_of(op.facts, keys[0]) if keys else None
    return None if rows is None or rows.rank != 1 else Extent((), Lead(head=(rows.dims[0],)))


def _around_ellipsis(keys: list[py.Value]) -> tuple[list[py.Value], list[py.Value]]:
    for position, key in enumerate(keys):
        if isinstance(key, py.Const) and key.value is Ellipsis:
            return keys[:position], keys[position + 1 :]
    return keys, []


def is_whole_slice(key: py.Value) -> bool:
    return isinstance(key, py.SliceValue) and all(map(py.is_none, (key.start, key.stop, key.step)))


def _only_first(op: Operation, shape: Extent, keys: list[py.Value]) -> Extent | None:
    """``x[0]``, ``x[:, 0]`` of a tensor of unknown rank: which dimension comes first then."""
    of_data = sliced(keys[0]) if isinstance(keys[0], py.SliceValue) else None
    if of_data is not None:
        return Extent((), Lead(head=(of_data,)))
    taking = sum(not py.is_none(key) for key in keys)
    found = _kept(op, keys, tuple(map(shape.at, range(taking))))
    return None if found is None else beginning(*found, *map(shape.at, range(taking, taking + 2)))


def _only_last(
    op: Operation, shape: Extent, before: object, after: list[py.Value], behind: int
) -> Extent | None:
    """What is known where only the last dimensions are, and those before stay as many."""
    if before:
        return None
    last = _kept(op, after, shape.last(behind))
    return None if last is None else shape.without_last(behind).followed_by(*last)


def _kept(op: Operation, keys: list[py.Value], dims: tuple[Dim | None, ...]) -> list[Dim | None] | None:
    """The dimensions that keys leave, one key for each but for None, which adds one."""
    left: list[Dim | None] = []
    rest = iter(dims)
    chosen: tuple[Dim | None, ...] = ()
    for place, key in enumerate(keys):
        if py.is_none(key):
            left.append(ONE)
            continue
        dim = next(rest)
        if isinstance(key, py.SliceValue):
            left.append(_sliced(op, key, dim))
        elif isinstance(key, _INDICES):
            before = keys[:place]
            is_first = not any(isinstance(one, _INDICES) for one in before)
            if not is_first and not isinstance(before[-1], _INDICES):
                return None  # what they choose comes first then
            found = _indices(op, key, is_first=is_first)
            together = found if is_first else broadcast(Extent(chosen), found)
            if together is None:
                return None
            left[len(left) - len(chosen) :] = together.dims
            chosen = together.dims
        elif op.dim(key) is None:
            return None  # it may be a tensor
    return left


def _indices(op: Operation, key: py.Value, *, is_first: bool) -> Extent | None:
    """The shape of the indices that a key holds, or of those that a mask lets through."""
    if not isinstance(key, py.TensorValue):
        return _listed(key)
    chosen = extent_of(op.facts, key)
    many = let_through(op, key)
    if many is not None and is_first and chosen is not None and chosen.rank == 1:
        return Extent((many,))
    if chosen is None or chosen.lead is not None or not is_whole(key):
        return None
    is_kept = not isinstance(key, Traced) or key.of == "state"  # as many for every input
    return Extent(tuple(unknown_constant() if dim is None and is_kept else dim for dim in chosen.dims))


def _listed(key: py.Value) -> Extent | None:
    """The shape of a list of whole numbers."""
    if not isinstance(key, (py.ListValue, py.TupleValue)) or not all(map(_is_whole_number, key.items)):
        return None
    return Extent((unknown_constant() if key.open else number(len(key.items)),))


def _is_whole_number(item: py.Value) -> bool:
    is_unknown = type(item) is py.Unknown and item.hint == "int"
    return is_unknown or type(py.constant(item)) is int


def _sliced(op: Operation, key: py.SliceValue, dim: Dim | None) -> Dim | None:
    of_data = sliced(key)
    if of_data is not None:
        return of_data
    if not py.is_none(key.step) and op.number(key.step) != 1:
        whole, found = op.facts.number(dim), py.slice_of(key)
        return None if whole is None or found is None else number(len(range(whole)[found]))
    start = number(0) if py.is_none(key.start) else op.dim(key.start)
    stop = dim if py.is_none(key.stop) else op.dim(key.stop)
    if dim is None or start is None or stop is None:
        return None
    first, last, whole = map(op.facts.number, (start, stop, dim))
    if first is not None and last is not None and whole is not None:
        return number(len(range(whole)[first:last]))
    if first == 0 and last is not None and last < 0:
        return dim.plus(stop)  # all but the last ones
    if py.is_none(key.stop) and first is not None:
        return dim.plus(start, -1) if first >= 0 else number(-first)
    from_end = stop.least()
    return dim.lesser(stop) if first == 0 and from_end is not None and from_end >= 0 else None
