"""Shapes of operations that compute: element by element, sums, products of matrices, factories."""

from __future__ import annotations

import functools
import math

from tsguard.analysis import values as py
from tsguard.analysis.trace.shapes.dims import ONE, Dim, number
from tsguard.analysis.trace.shapes.extents import Extent, Lead, broadcast, known
from tsguard.analysis.trace.shapes.operation import Operation, Shaped, extent_of


def same(op: Operation) -> Shaped:
    return op.shape()


def together(op: Operation) -> Shaped:
    """The tensors and numbers among the first arguments, broadcast."""
    values = [
        *op.args,
        *(op.kwargs[name] for name in ("other", "input", "exponent", "weight") if name in op.kwargs),
    ]
    result = Extent()
    for value in values[:3]:
        if not isinstance(value, py.TensorValue):
            continue
        shape = extent_of(op.facts, value)
        if op.learns and shape is not None:
            op.facts.broadcasts(result, shape)
            op.facts.broadcasts(shape, result)
            result, shape = op.facts.extent(result), op.facts.extent(shape)
        found = broadcast(result, shape)
        if found is None:
            return None
        result = found
    return result


def reduced(op: Operation) -> Shaped:
    """``x.mean(dim, keepdim)``; without a dimension, of all elements."""
    shape, over = op.shape(), op.given(1, "dim", "axis")
    if isinstance(over, py.TensorValue):
        return together(op)
    if over is None or py.is_none(over):
        return Extent()
    keeps = op.flag(2, "keepdim")
    return None if shape is None or keeps is None else _without(op, shape, over, keeps)


def _without(op: Operation, shape: Extent, over: py.Value, keeps: bool) -> Extent | None:
    items = over.items if isinstance(over, (py.TupleValue, py.ListValue)) else [over]
    numbers = [op.number(item) for item in items]
    indexes = [n for n in numbers if n is not None]
    if len(indexes) < len(numbers):
        return None
    if shape.lead is None:
        gone = {n % len(shape.dims) for n in indexes} if shape.dims else set()
        kept = [ONE if i in gone else dim for i, dim in enumerate(shape.dims) if keeps or i not in gone]
        return Extent(tuple(kept))
    result: Extent | None = shape
    for index in sorted(indexes):  # from the farthest of the last ones on, so that the others stay in place
        result = None if result is None else result.replaced(index, *([ONE] if keeps else []))
    return result if keeps or len(indexes) == 1 else None


def normed(op: Operation) -> Shaped:
    """``x.norm(p, dim, keepdim)``: the dimensions come one place later."""
    moved = Operation(op.facts, [*op.args[:1], *op.args[2:]], op.kwargs, op.learns)
    return reduced(moved)


def ranked(op: Operation) -> Shaped:
    """``x.topk(k, dim)``."""
    shape, index = op.shape(), op.whole(2, "dim", -1)
    return None if shape is None or index is None else shape.replaced(index, op.dim(op.given(1, "k")))


def multiplied(op: Operation) -> Shaped:
    """``a @ b``: the last dimension of one is the last but one of the other."""
    left, right = op.shape(), op.shape(1, "other", "mat2")
    if right is not None and right.lead is None and len(right.dims) == 2:
        op.takes(left, -1, right.dims[0])
        left = op.shape()
        return None if left is None else left.with_last(right.dims[1])
    if left is None or right is None:
        return None
    if min(len(side.dims) for side in (left, right)) < 2 and not (left.lead and right.lead):
        return None
    op.takes(left, -1, right.at(-2))
    batch = broadcast(left.without_last(2), right.without_last(2))
    ends = (left.at(-2), right.at(-1))
    return Extent(ends, Lead()) if batch is None else batch.followed_by(*ends)


def multiplied_flat(op: Operation) -> Shaped:
    """``torch.mm``: two dimensions each."""
    return _multiplied(op, 2)


def multiplied_in_batches(op: Operation) -> Shaped:
    """``torch.bmm``: three dimensions each."""
    return _multiplied(op, 3)


def _multiplied(op: Operation, rank: int) -> Extent:
    left = op.takes_rank(op.shape(), rank)
    right = op.takes_rank(op.shape(1, "mat2"), rank)
    if left is not None and right is not None:
        op.takes(left, rank - 1, right.at(rank - 2))
    before = [None if left is None else left.at(index) for index in range(rank - 1)]
    return Extent((*before, None if right is None else right.at(rank - 1)))


def einsum(op: Operation) -> Shaped:
    """``torch.einsum("bhid,bhjd->bhij", q, k)``: each letter is a dimension."""
    text = py.constant(op.args[0]) if op.args else None
    if not isinstance(text, str) or "->" not in text:
        return None
    inputs, result = text.replace(" ", "").split("->")
    given = op.args[1:]
    if len(given) == 1 and isinstance(given[0], (py.ListValue, py.TupleValue)):
        given = given[0].items
    sizes: dict[str, Dim | None] = {}
    others: Extent | None = Extent()
    for letters, value in zip(inputs.split(","), given, strict=False):
        first, dots, last = letters.partition("...")
        shape = (
            extent_of(op.facts, value) if dots else op.takes_rank(extent_of(op.facts, value), len(letters))
        )
        places = [*enumerate(first), *((index - len(last), letter) for index, letter in enumerate(last))]
        for index, letter in places:
            _name(op, sizes, letter, shape, index)
        if dots:
            others = broadcast(others, _between(shape, len(first), len(last)))
    return _named(result, sizes, others)


def _name(op: Operation, sizes: dict[str, Dim | None], letter: str, shape: Extent | None, index: int) -> None:
    """A letter is a dimension; one that other tensors have, too, is as many."""
    is_plain = shape is not None and (shape.lead is None or index < 0)
    dim = shape.at(index) if shape is not None and is_plain else None
    before = sizes.get(letter)
    if before is not None and before != ONE:
        op.takes(shape, index, before)
    sizes[letter] = before if before is not None and before != ONE else dim


def _between(shape: Extent | None, first: int, last: int) -> Extent | None:
    """The dimensions that three dots stand for."""
    return (
        None
        if shape is None or shape.lead is not None
        else Extent(shape.dims[first : len(shape.dims) - last])
    )


def _named(result: str, sizes: dict[str, Dim | None], others: Extent | None) -> Extent:
    first, dots, last = result.partition("...")
    before, after = (tuple(sizes.get(letter) for letter in letters) for letters in (first, last))
    if not dots:
        return Extent(before)
    return Extent(after, Lead()) if others is None else Extent((*before, *others.dims, *after), others.lead)


def attended(op: Operation) -> Shaped:
    """``F.scaled_dot_product_attention(query, key, value)``."""
    query, value = op.shape(0, "query"), op.shape(2, "value")
    return None if query is None or value is None else query.with_last(value.at(-1))


def outer(op: Operation) -> Shaped:
    left, right = op.shape(), op.shape(1, "vec2")
    return Extent((None if left is None else left.at(0), None if right is None else right.at(0)))


def one_hot(op: Operation) -> Shaped:
    shape, classes = op.shape(), op.given(1, "num_classes")
    return None if shape is None else shape.followed_by(op.dim(classes) if classes is not None else None)


def filled(op: Operation) -> Shaped:
    """``torch.zeros(*sizes)``."""
    return _sized(op.dims(0, "size"))


def filled_with(op: Operation) -> Shaped:
    """``torch.full(sizes, value)``, ``x.new_full(...)``: the sizes come as one."""
    given = op.given(0, "size")
    return None if given is None else _sized(Operation(op.facts, [given]).dims(0))


def _sized(dims: tuple[Dim | None, ...] | None) -> Extent | None:
    return None if dims is None else Extent(dims)


def filled_anew(op: Operation) -> Shaped:
    """``x.new_zeros(*sizes)``."""
    return _sized(op.dims(1, "size"))


def counted(op: Operation) -> Shaped:
    """``torch.arange(n)``, ``torch.arange(first, last, step)``."""
    given = [op.given(0, "start", "end"), *(op.given(index, name) for index, name in _BOUNDS)]
    if given[1] is None and "start" not in op.kwargs:
        return Extent((op.dim(given[0]),))
    step = py.Const(1) if given[2] is None else given[2]
    first, last, by = (None if value is None else op.number(value) for value in (*given[:2], step))
    if first is not None and last is not None and by:
        return known((len(range(first, last, by)),))
    start, end = (None if value is None else op.dim(value) for value in given[:2])
    return Extent((None if start is None or end is None or by != 1 else end.plus(start, -1),))


_BOUNDS = ((1, "end"), (2, "step"))


def in_a_row(op: Operation) -> Shaped:
    """``torch.randperm(n)``, ``torch.hann_window(n)``: a row of so many."""
    return Extent((op.dim(op.given(0, "n", "window_length")),))


def drawn_whole(op: Operation) -> Shaped:
    """``torch.randint(low, high, size)``, where ``low`` may be left out."""
    given = op.kwargs.get("size") or next(
        (value for value in op.args if isinstance(value, (py.TupleValue, py.ListValue))), None
    )
    return None if given is None else _sized(Operation(op.facts, [given]).dims(0))


def listed(op: Operation) -> Shaped:
    """``torch.tensor([[1, 2], [3, 4]])``: as the lists lie within each other."""
    return _nested(op, op.given(0, "data"))


def listed_anew(op: Operation) -> Shaped:
    """``x.new_tensor([1, 2])``."""
    return _nested(op, op.given(1, "data"))


def _nested(op: Operation, value: py.Value | None) -> Extent | None:
    if isinstance(value, (py.ListValue, py.TupleValue)):
        if value.open:
            return None
        inner = [_nested(op, item) for item in value.items]
        first = inner[0] if inner else Extent()
        are_alike = first is not None and all(one == first for one in inner)
        return Extent((number(len(inner)), *first.dims), None) if first is not None and are_alike else None
    return None if value is None else extent_of(op.facts, value)


def meshed(op: Operation) -> Shaped:
    """``torch.meshgrid(a, b, indexing="ij")``: each has as many dimensions as there are rows."""
    rows = list(op.args)
    if len(rows) == 1 and isinstance(rows[0], (py.ListValue, py.TupleValue)):
        rows = list(rows[0].items)
    shapes = [extent_of(op.facts, row) for row in rows]
    dims = [None if shape is None or shape.rank != 1 else shape.dims[0] for shape in shapes]
    if op.kwargs.get("indexing") == py.Const("xy") and len(dims) > 1:
        dims[:2] = dims[1::-1]
    return [Extent(tuple(dims))] * len(dims)


def spaced(op: Operation) -> Shaped:
    """``torch.linspace(start, end, steps)``."""
    steps = op.given(2, "steps")
    return Extent((op.dim(steps),))


def eye(op: Operation) -> Shaped:
    first, second = op.given(0, "n"), op.given(1, "m")
    rows = op.dim(first)
    return Extent((rows, rows if second is None else op.dim(second)))


def of_triangle(op: Operation) -> Shaped:
    """``torch.triu_indices(n, m)``: rows and columns."""
    return Extent((number(2), None))


def scaled(op: Operation) -> Shaped:
    """``F.interpolate(x, size, scale_factor)``: what follows the first two dimensions."""
    shape, size, factor = op.shape(), op.given(1, "size"), op.given(2, "scale_factor")
    for each in (size, factor):
        if isinstance(each, py.TupleValue) and not each.open:
            shape = op.takes_rank(shape, 2 + len(each.items))
    if shape is None or shape.lead is not None or len(shape.dims) < 3:
        return None
    count = len(shape.dims) - 2
    if size is not None and not py.is_none(size):
        items = size.items if isinstance(size, (py.ListValue, py.TupleValue)) else [size] * count
        sizes = map(op.dim, items) if len(items) == count else [None] * count
        return Extent((*shape.dims[:2], *sizes))
    factors = factor.items if isinstance(factor, (py.ListValue, py.TupleValue)) else [factor] * count
    if len(factors) != count:
        return Extent((*shape.dims[:2], *[None] * count))
    sides = map(functools.partial(_times, op), shape.dims[2:], factors)
    return Extent((*shape.dims[:2], *sides))


def _times(op: Operation, dim: Dim | None, factor: py.Value | None) -> Dim | None:
    """A dimension so many times, rounded down."""
    times = None if factor is None else py.constant(factor)
    if dim is None or not isinstance(times, (int, float)):
        return None
    if times == int(times):
        return dim.times(number(int(times)))
    whole = op.facts.number(dim)
    if whole is not None:
        return number(math.floor(whole * times))
    return dim.floor(number(int(1 / times))) if 0 < times < 1 and 1 / times == int(1 / times) else None
