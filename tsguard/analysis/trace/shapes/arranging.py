"""Shapes of operations that arrange the elements of tensors anew."""

from __future__ import annotations

from tsguard.analysis import values as py
from tsguard.analysis.budgets import SHAPED_PIECES
from tsguard.analysis.trace.shapes.dims import ONE, Dim, Symbol, number, symbol_dim
from tsguard.analysis.trace.shapes.extents import ANY, Extent, Lead, beginning, product
from tsguard.analysis.trace.shapes.operation import Operation, Shaped, extent_of
from tsguard.analysis.trace.values import Shape


def viewed(op: Operation) -> Shaped:
    """``x.view(*sizes)``, ``x.reshape(*sizes)``: one size may be -1, and is what is left."""
    if len(op.args) == 2 and isinstance(op.args[1], py.Atom):
        return op.shape()
    whole = op.args[1] if len(op.args) == 2 else None
    if isinstance(whole, Shape) and whole.extent is not None:
        return _with_what_is_left(op.shape(), op.facts.extent(whole.extent))
    wanted = op.dims(1, "shape", "size")
    if wanted is None:
        return None
    return _with_what_is_left(op.shape(), Extent(wanted))


def _with_what_is_left(shape: Extent | None, wanted: Extent) -> Extent:
    """A shape of which one size may be -1: the other elements of the tensor."""
    open_ones = [index for index, dim in enumerate(wanted.dims) if dim is not None and dim.number == -1]
    if not open_ones:
        return wanted
    index = open_ones[0]
    rest = product((*wanted.dims[:index], *wanted.dims[index + 1 :]))
    if wanted.lead is not None:
        shape = _behind(shape, wanted.lead)
    return Extent((*wanted.dims[:index], _left(shape, rest), *wanted.dims[index + 1 :]), wanted.lead)


def _behind(shape: Extent | None, lead: Lead) -> Extent | None:
    """The dimensions of a shape after those that another one begins with, too."""
    if shape is None or shape.lead is None or shape.lead.tensor is None or shape.lead.tensor != lead.tensor:
        return None
    more = lead.dropped - shape.lead.dropped
    return Extent(shape.last(len(shape.dims) + more)) if more >= 0 else None


def _left(shape: Extent | None, rest: Dim | None) -> Dim | None:
    """What is left for one size: torch takes no tensor where that does not come out even."""
    if shape is None or rest is None:
        return None
    total = _joined(shape.dims) if shape.lead is None else _of_all(shape)
    return None if total is None else total.floor(rest)


def _of_all(shape: Extent) -> Dim | None:
    """How many elements an input has of which nothing tells how many dimensions."""
    lead = shape.lead
    is_whole = lead is not None and lead.tensor is not None and lead.first is None and not lead.dropped
    if lead is None or lead.tensor is None or not is_whole or shape.dims:
        return None
    return symbol_dim(Symbol("input", (lead.tensor, "count")))


def _joined(dims: tuple[Dim | None, ...]) -> Dim | None:
    """The size that dimensions have together: one that only data tells makes it such, whatever the others are."""
    found = product(dims)
    counted = next((dim for dim in dims if dim is not None and dim.is_of_data), None)
    if found is not None or counted is None:
        return found
    return symbol_dim(Symbol("data", ("joined", *counted.symbols())))


def flattened(op: Operation) -> Shaped:
    shape, start, end = op.shape(), op.whole(1, "start_dim", 0), op.whole(2, "end_dim", -1)
    if shape is None or start is None or end is None:
        return None
    if shape.lead is not None:
        counted = _counted(shape)
        if counted is not None and (start, end) == (0, -1):
            return Extent((_joined((counted.at(0), None)),))
        count = end - start + 1
        if start >= 0 or end >= 0 or count < 1:
            return None
        joined = _joined(shape.last(-start)[:count])
        return shape.without_last(-start).followed_by(joined, *shape.last(-end - 1))
    first, last = _index(shape, start), _index(shape, end)
    return Extent((*shape.dims[:first], _joined(shape.dims[first : last + 1]), *shape.dims[last + 1 :]))


def _index(shape: Extent, index: int) -> int:
    return index + len(shape.dims) if index < 0 else index


def unflattened(op: Operation) -> Shaped:
    shape, index, sizes = op.shape(), op.whole(1, "dim"), op.given(2, "sizes")
    if shape is None or index is None or not isinstance(sizes, (py.TupleValue, py.ListValue)) or sizes.open:
        return None
    parts = [op.dim(item) for item in sizes.items]
    filled = [
        _left(Extent((shape.at(index),)), product(parts[:i] + parts[i + 1 :]))
        if dim is not None and dim.number == -1
        else dim
        for i, dim in enumerate(parts)
    ]
    return shape.replaced(index, *filled)


def permuted(op: Operation) -> Shaped:
    order = op.dims(1, "dims")
    if order is None:
        return None
    shape = op.takes_rank(op.shape(), len(order))
    numbers = [None if dim is None else dim.number for dim in order]
    if shape is None:
        return Extent((None,) * len(order))
    return Extent(tuple(None if n is None else shape.at(n) for n in numbers))


def transposed(op: Operation) -> Shaped:
    shape = op.shape()
    return _swapped(shape, op.whole(1, "dim0"), op.whole(2, "dim1"))


def _swapped(shape: Extent | None, first: int | None, second: int | None) -> Extent | None:
    if shape is None or first is None or second is None:
        return None
    if shape.lead is not None and (first >= 0 or second >= 0):
        head = _swapped_head(shape, first, second)
        found = beginning(*head)
        return ANY if found is None and 0 in (first, second) else found
    one, other = shape.at(first), shape.at(second)
    moved = shape.replaced(first, other)
    return None if moved is None else moved.replaced(second, one)


def _swapped_head(shape: Extent, first: int, second: int) -> list[Dim | None]:
    """The first dimensions, counted from the front where both are; one that comes from the end is unknown."""
    if first < 0 or second < 0:
        counted, other = (second, first) if first < 0 else (first, second)
        return [shape.at(other) if counted == 0 else shape.first]
    head = [shape.first, *map(shape.at, range(1, max(first, second) + 1))]
    head[first], head[second] = head[second], head[first]
    return head


def turned(op: Operation) -> Shaped:
    """``x.t()``, of two dimensions at most."""
    shape = op.takes_rank(op.shape(), 2)
    return None if shape is None else _swapped(shape, -2, -1)


def squeezed(op: Operation) -> Shaped:
    """``x.squeeze(dim)``; without one, a dimension of which only data tells the size is taken for not 1."""
    shape, index = op.shape(), op.whole(1, "dim")
    if shape is not None and len(op.args) + len(op.kwargs) == 1 and shape.lead is None:
        is_told = all(dim is not None and (dim.number is not None or dim.is_of_data) for dim in shape.dims)
        return Extent(tuple(dim for dim in shape.dims if dim != ONE)) if is_told else _counted(shape)
    if shape is None or index is None:
        return None
    size = op.facts.number(shape.at(index))
    if size is None:
        return _counted(shape) if index else None
    return shape.replaced(index) if size == 1 else shape


def may_drop_more(op: Operation) -> bool:
    """Whether ``x.squeeze()`` drops a dimension for some inputs that it keeps for others."""
    shape, index = op.shape(), op.whole(1, "dim")
    if shape is None or (index is None and shape.lead is not None):
        return True
    dims = shape.dims if index is None else (shape.at(index),)
    return any(dim is None or not dim.is_constant for dim in dims)


def _counted(shape: Extent) -> Extent | None:
    """A shape of which no more is known than that data tells its first size."""
    first = shape.at(0)
    return Extent((), Lead(head=(first,))) if first is not None and first.is_of_data else None


def unsqueezed(op: Operation) -> Shaped:
    shape, index = op.shape(), op.whole(1, "dim")
    return None if shape is None or index is None else inserted(shape, index, ONE)


def inserted(shape: Extent, index: int, dim: Dim | None) -> Extent | None:
    """A shape with one dimension more, as unsqueeze() and stack() count it."""
    if shape.lead is None:
        at = index + len(shape.dims) + 1 if index < 0 else index
        return Extent((*shape.dims[:at], dim, *shape.dims[at:]))
    if index >= 0:
        return beginning(*map(shape.at, range(index)), dim, *map(shape.at, range(index, index + 2)))
    return shape.without_last(-index - 1).followed_by(dim, *shape.last(-index - 1))


def expanded(op: Operation) -> Shaped:
    shape, wanted = op.shape(), op.dims(1, "size")
    if wanted is None:
        return None
    count = len(wanted)
    keeps_first = bool(wanted) and wanted[0] is not None and wanted[0].number == -1
    if keeps_first:  # a new dimension may not be -1: there are as many as are wanted
        shape = op.takes_rank(shape, count)
    kept: list[Dim | None] = (
        [None] * count
        if shape is None
        else [shape.at(i - count) if shape.position(i - count) is not None else None for i in range(count)]
    )
    if keeps_first and shape is not None and kept[0] is None:
        kept[0] = shape.at(0)
    return Extent(
        tuple(
            old if dim is not None and dim.number == -1 else dim
            for dim, old in zip(wanted, kept, strict=True)
        )
    )


def like_another(op: Operation) -> Shaped:
    """``x.expand_as(other)``, ``x.view_as(other)``, ``x.gather(dim, index)``."""
    return op.shape(1, "other", "index")


def gathered(op: Operation) -> Shaped:
    return op.shape(2, "index")


def repeated(op: Operation) -> Shaped:
    shape, times = op.shape(), op.dims(1, "repeats", "dims")
    if shape is None or times is None or shape.lead is not None or len(times) < len(shape.dims):
        return None
    dims = ((ONE,) * (len(times) - len(shape.dims))) + shape.dims
    return Extent(
        tuple(None if a is None or b is None else a.times(b) for a, b in zip(dims, times, strict=True))
    )


def concatenated(op: Operation) -> Shaped:
    tensors, index = op.given(0, "tensors"), op.whole(1, "dim", 0)
    if not isinstance(tensors, (py.ListValue, py.TupleValue)) or index is None or not tensors.items:
        return None
    shapes = [extent_of(op.facts, item) for item in tensors.items]
    some = next((shape for shape in shapes if shape is not None and shape.lead is None), shapes[0])
    if some is None:
        return None
    total: Dim | None = number(0)
    for shape in [None] if tensors.open else shapes:
        dim = None if shape is None else shape.at(index)
        total = None if total is None or dim is None else total.plus(dim)
    return some.replaced(index, total if total is not None and total.is_simple else None)


def stacked(op: Operation) -> Shaped:
    tensors, index = op.given(0, "tensors"), op.whole(1, "dim", 0)
    if not isinstance(tensors, (py.ListValue, py.TupleValue)) or index is None or not tensors.items:
        return None
    shape = extent_of(op.facts, tensors.items[0])
    count = None if tensors.open else number(len(tensors.items))
    if shape is None:
        return beginning(*[None] * index, count) if index >= 0 else None
    return inserted(shape, index, count)


def chunked(op: Operation) -> Shaped:
    """``x.chunk(n, dim)``: the parts are alike where they come out even."""
    shape, count, index = op.shape(), op.whole(1, "chunks"), op.whole(2, "dim", 0)
    if shape is None or not count or index is None or count < 1:
        return None
    dim = shape.at(index)
    part = None if dim is None else dim.over(number(count))
    if part is None:
        return shape.replaced(index, None)
    return [shape.replaced(index, part)] * count


def split(op: Operation) -> Shaped:
    shape, index = op.shape(), op.whole(2, "dim", 0)
    sizes = op.given(1, "split_size", "split_size_or_sections", "split_sizes")
    if shape is None or index is None or sizes is None:
        return None
    if isinstance(sizes, (py.ListValue, py.TupleValue)):
        return None if sizes.open else [shape.replaced(index, op.dim(item)) for item in sizes.items]
    whole, length = op.facts.number(shape.at(index)), op.number(sizes)
    if whole is None or not length:
        return shape.replaced(index, None)  # the last one may be shorter
    full, rest = divmod(whole, length)
    return [shape.replaced(index, number(n)) for n in [length] * full + [rest] * bool(rest)]


def unbound(op: Operation) -> Shaped:
    shape, index = op.shape(), op.whole(1, "dim", 0)
    if shape is None or index is None:
        return None
    count = op.facts.number(shape.at(index))
    one = shape.replaced(index)
    return [one] * count if count is not None and 0 < count <= SHAPED_PIECES else one


def selected(op: Operation) -> Shaped:
    shape, index = op.shape(), op.whole(1, "dim")
    return None if shape is None or index is None else shape.replaced(index)


def narrowed(op: Operation) -> Shaped:
    shape, index = op.shape(), op.whole(1, "dim")
    return None if shape is None or index is None else shape.replaced(index, op.dim(op.given(3, "length")))


def index_selected(op: Operation) -> Shaped:
    shape, index, chosen = op.shape(), op.whole(1, "dim"), op.shape(2, "index")
    if shape is None or index is None:
        return None
    return shape.replaced(index, None if chosen is None else chosen.at(-1))


def moved(op: Operation) -> Shaped:
    """``x.movedim(source, destination)`` of one dimension or several."""
    shape, sources, targets = op.shape(), _places(op, 1, "source"), _places(op, 2, "destination")
    if shape is None or shape.lead is not None or not sources or len(sources) != len(targets):
        return None
    rank = len(shape.dims)
    if any(not -rank <= index < rank for index in (*sources, *targets)):
        return None
    at = {target % rank: source % rank for source, target in zip(sources, targets, strict=True)}
    others = iter([index for index in range(rank) if index not in at.values()])
    return Extent(tuple(shape.dims[at[place] if place in at else next(others)] for place in range(rank)))


def _places(op: Operation, index: int, name: str) -> list[int]:
    """The dimensions that an argument names, one or several; none where one of them is not told."""
    given = op.given(index, name)
    items = given.items if isinstance(given, (py.TupleValue, py.ListValue)) else [given]
    found = [None if item is None else op.number(item) for item in items]
    told = [place for place in found if place is not None]
    return told if len(told) == len(found) else []


def padded(op: Operation) -> Shaped:
    """``F.pad(x, (left, right, top, bottom, ...))`` begins with the last dimension."""
    shape, pad = op.shape(), op.given(1, "pad")
    if shape is None or not isinstance(pad, (py.ListValue, py.TupleValue)) or pad.open:
        return None
    amounts = [op.dim(item) for item in pad.items]
    for position in range(0, len(amounts) - 1, 2):
        index = -1 - position // 2
        dim, before, after = shape.at(index), amounts[position], amounts[position + 1]
        grown = None if dim is None or before is None or after is None else dim.plus(before).plus(after)
        shape = shape.replaced(index, grown)
        if shape is None:
            return None
    return shape
