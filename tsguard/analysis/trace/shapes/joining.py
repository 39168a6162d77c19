"""Shapes of what puts tensors beside each other, repeats them, or cuts them into a number of parts."""

from __future__ import annotations

from collections.abc import Callable

from tsguard.analysis import values as py
from tsguard.analysis.trace.shapes import arranging
from tsguard.analysis.trace.shapes.dims import ONE, Dim, number
from tsguard.analysis.trace.shapes.extents import Extent, broadcast, product
from tsguard.analysis.trace.shapes.operation import Operation, Shaped, extent_of


def _listed(op: Operation) -> py.ListValue | py.TupleValue | None:
    tensors = op.given(0, "tensors")
    return tensors if isinstance(tensors, (py.ListValue, py.TupleValue)) and tensors.items else None


def _along(op: Operation, tensors: py.Value, index: int) -> Shaped:
    return arranging.concatenated(Operation(op.facts, [tensors, py.Const(index)]))


def beside(op: Operation) -> Shaped:
    """``torch.hstack``: along the second dimension, or the only one."""
    tensors = _listed(op)
    shape = None if tensors is None else extent_of(op.facts, tensors.items[0])
    if tensors is None or shape is None or shape.rank is None:
        return None
    return _along(op, tensors, min(1, shape.rank - 1)) if shape.rank else None


def below(op: Operation) -> Shaped:
    """``torch.vstack``: along the first of two dimensions or more."""
    tensors = _listed(op)
    shape = None if tensors is None else extent_of(op.facts, tensors.items[0])
    if tensors is None or shape is None or shape.rank is None or tensors.open:
        return None
    if shape.rank == 1:
        return Extent((number(len(tensors.items)), shape.dims[0]))
    return _along(op, tensors, 0) if shape.rank else None


def tiled(op: Operation) -> Shaped:
    """``x.tile(*times)``: the last dimensions, where fewer numbers are given."""
    shape, times = op.shape(), op.dims(1, "dims")
    if shape is None or times is None or shape.lead is not None:
        return None
    rank = max(len(times), len(shape.dims))
    dims = (ONE,) * (rank - len(shape.dims)) + shape.dims
    counts = (ONE,) * (rank - len(times)) + times
    return Extent(tuple(product(pair) for pair in zip(dims, counts, strict=True)))


def each_repeated(op: Operation) -> Shaped:
    """``x.repeat_interleave(times, dim)`` with a number; without a dimension, of all elements."""
    shape, times, over = op.shape(), op.dim(op.given(1, "repeats")), op.given(2, "dim")
    if shape is None or times is None:
        return None
    if over is None or py.is_none(over):
        return Extent((product((*shape.dims, times)),)) if shape.lead is None else None
    index = op.number(over)
    return None if index is None else shape.replaced(index, product((shape.at(index), times)))


def parted(op: Operation) -> Shaped:
    """``torch.tensor_split(x, count, dim)``: the first parts have one more where it does not come out even."""
    shape, count, index = op.shape(), op.whole(1, "indices_or_sections"), op.whole(2, "dim", 0)
    if shape is None or not count or index is None or count < 1:
        return None
    dim = shape.at(index)
    whole = op.facts.number(dim)
    if whole is None:
        part = None if dim is None else dim.over(number(count))
        comes_out_even = part is not None and product((part, number(count))) == dim
        return [shape.replaced(index, part if comes_out_even else None)] * count
    full, rest = divmod(whole, count)
    return [shape.replaced(index, number(full + (place < rest))) for place in range(count)]


def broadcast_to(op: Operation) -> Shaped:
    """``torch.broadcast_to(x, size)``, ``x.expand(size)``."""
    given = op.given(1, "size")
    return None if given is None else arranging.expanded(Operation(op.facts, [op.args[0], given]))


def all_broadcast(op: Operation) -> Shaped:
    """``torch.broadcast_tensors(a, b, ...)``: each of the shape that all have together."""
    values = list(op.args)
    if len(values) == 1 and isinstance(values[0], (py.ListValue, py.TupleValue)):
        values = list(values[0].items)
    result: Extent | None = Extent()
    for value in values:
        result = None if result is None else broadcast(result, extent_of(op.facts, value))
    return [result] * len(values)


def strided(op: Operation) -> Shaped:
    """``x.as_strided(size, stride)``, ``x.new_full(size, value)``: the size comes second."""
    given = op.given(1, "size")
    sizes = None if given is None else Operation(op.facts, [given]).dims(0)
    return None if sizes is None else Extent(sizes)


def levelled(op: Operation) -> Shaped:
    """``x.ravel()``."""
    return arranging.flattened(Operation(op.facts, op.args[:1]))


def like_indices(op: Operation) -> Shaped:
    """``x.take(index)``, ``torch.take_along_dim(x, indices, dim)``."""
    return op.shape(1, "index", "indices")


def in_squares(op: Operation) -> Shaped:
    """``torch.block_diag(a, b, ...)`` of matrices: rows and columns add up."""
    rows: Dim | None = number(0)
    columns: Dim | None = number(0)
    for value in op.args:
        shape = extent_of(op.facts, value)
        if shape is None or shape.rank != 2:
            return None
        rows, columns = _sum(rows, shape.dims[0]), _sum(columns, shape.dims[1])
    return Extent((rows, columns))


def _sum(left: Dim | None, right: Dim | None) -> Dim | None:
    return None if left is None or right is None else left.plus(right)


JOINING: dict[str, Callable[[Operation], Shaped]] = {
    "as_strided": strided,
    "block_diag": in_squares,
    "broadcast_tensors": all_broadcast,
    "broadcast_to": broadcast_to,
    "hstack": beside,
    "moveaxis": arranging.moved,
    "new_full": strided,
    "ravel": levelled,
    "row_stack": below,
    "take": like_indices,
    "take_along_dim": like_indices,
    "tensor_split": parted,
    "tile": tiled,
    "vstack": below,
}
"""The rules, by the names of the functions."""
