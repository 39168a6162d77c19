"""Shapes of operations that compute: element by element, sums, products of matrices, factories."""

from __future__ import annotations

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
    if not isinstance(text, str) or "->" not in text or "." in text:
        return None
    inputs, result = text.replace(" ", "").split("->")
    sizes: dict[str, Dim | None] = {}
    for letters, value in zip(inputs.split(","), op.args[1:], strict=False):
        shape = op.takes_rank(extent_of(op.facts, value), len(letters))
        for index, letter in enumerate(letters):
            dim = None if shape is None or shape.lead is not None else shape.at(index)
            before = sizes.get(letter)
            if before is not None and before != ONE:
                op.takes(shape, index, before)
            sizes[letter] = before if before is not None and before != ONE else dim
    return Extent(tuple(sizes.get(letter) for letter in result))


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
    """``torch.arange(n)``, which begins at 0 and goes up by 1."""
    if len(op.args) == 1:
        return Extent((op.dim(op.args[0]),))
    first, last = (op.number(value) for value in op.args[:2]) if len(op.args) == 2 else (None, None)
    return Extent((None,)) if first is None or last is None else known((max(0, last - first),))


def spaced(op: Operation) -> Shaped:
    """``torch.linspace(start, end, steps)``."""
    steps = op.given(2, "steps")
    return Extent((op.dim(steps),))


def eye(op: Operation) -> Shaped:
    first, second = op.given(0, "n"), op.given(1, "m")
    rows = op.dim(first)
    return Extent((rows, rows if second is None else op.dim(second)))


def scaled(op: Operation) -> Shaped:
    """``F.interpolate(x, size, scale_factor)``: what follows the first two dimensions."""
    shape = op.shape()
    if shape is None or shape.lead is not None or len(shape.dims) < 3:
        return None
    count, size, factor = len(shape.dims) - 2, op.given(1, "size"), op.given(2, "scale_factor")
    if size is not None and not py.is_none(size):
        items = size.items if isinstance(size, (py.ListValue, py.TupleValue)) else [size] * count
        sizes = map(op.dim, items) if len(items) == count else [None] * count
        return Extent((*shape.dims[:2], *sizes))
    factors = op.numbers(factor, count)
    if factors is None:
        return Extent((*shape.dims[:2], *[None] * count))
    pairs = zip(shape.dims[2:], factors, strict=True)
    return Extent((*shape.dims[:2], *(None if d is None else d.times(number(f)) for d, f in pairs)))
