"""Tensors as indices and masks, and parts of tensors."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from tsguard.runtime.worker.inputs.demands.operation import (
    Model,
    Operation,
    Unmodelled,
    appended,
    inserted,
    kind_of_values,
    must_be,
    removed,
    replaced,
    shape_of,
    unite_but,
)
from tsguard.runtime.worker.inputs.demands.shapes import Shape, Size, broadcast, unite
from tsguard.runtime.worker.inputs.specs import LENGTH


def _item(op: Operation) -> Any:
    whole = op.tensor(0, "self")
    shape, is_part = _indexed(shape_of(whole), op.args[1])
    return op.result(shape, whole if is_part else None, kind_of_values(whole))


def _set_item(op: Operation) -> Any:
    shape, _ = _indexed(shape_of(op.tensor(0, "self")), op.args[1])
    if isinstance(op.args[2], Tensor):
        if shape.rank() is not None and shape_of(op.args[2]).rank() is None:
            shape_of(op.args[2]).close(shape.rank() or 0)
        broadcast(shape, shape_of(op.args[2]))


def _indexed(shape: Shape, index: Any) -> tuple[Shape, bool]:
    """What is left, and whether it is still a part of the same tensor."""
    steps = index if isinstance(index, tuple) else (index,)
    chosen = [step for step in steps if isinstance(step, Tensor)]
    if any(not isinstance(s, (int, slice, Tensor)) and s is not None and s is not Ellipsis for s in steps):
        raise Unmodelled("an index of another kind")
    if len(chosen) == 1 and kind_of_values(chosen[0]) == "bool":
        return _masked(shape, chosen[0], steps), False
    return _chosen(shape, steps, chosen), not chosen


def _masked(shape: Shape, mask: Tensor, steps: tuple[Any, ...]) -> Shape:
    if len(steps) > 1:
        raise Unmodelled("a mask among indices")
    must_be(mask, "bool")
    own = shape_of(mask)
    rank = own.likely_rank()
    own.close(rank)
    for place in range(rank):
        own.at(place).unite(shape.at(place))
    return inserted(removed(shape, range(rank)), 0, Size())


def _chosen(shape: Shape, steps: tuple[Any, ...], chosen: list[Tensor]) -> Shape:
    place, dims, gone = 0, [], []
    for number, step in enumerate(steps):
        if step is Ellipsis:
            place = -sum(s is not None for s in steps[number + 1 :])
        elif step is not None:
            dims.append((place, step))
            place += 1
    if steps[-1] is None and Ellipsis not in [s for s in steps if not isinstance(s, Tensor)]:
        _ends(shape, len(dims))
    where: int | None = None
    made = shape
    for dim, step in dims:
        size = shape.at(dim)
        if isinstance(step, slice):
            made = replaced(made, dim, _sliced(size, step))
        elif isinstance(step, Tensor):
            must_be(step, "int", size)
            _row(shape_of(step))
            where = dim if where is None else where
            gone.append(dim)
        else:
            _reached(size, int(step) + 1 if step >= 0 else -int(step))
            gone.append(dim)
    first_gone = [dim for dim in gone if where is not None and dim < where]
    made = removed(made, gone)
    if where is not None:
        picked = shape_of(chosen[0])
        for other in chosen[1:]:
            picked = broadcast(picked, shape_of(other))
        made = _spliced(made, where - len(first_gone), picked)
    return _with_new(made, steps)


def _ends(shape: Shape, rank: int) -> None:
    """``x[:, :, None]``: what is added comes last."""
    now = shape.now()
    alone = not now.back and len(now.usual) < 2
    if now.rest is not None and (rank > 1 or alone) and rank >= len(now.front) + len(now.back):
        shape.close(rank)


def _row(index: Shape) -> None:
    """Indices of which nothing else is known are one row of them."""
    now = index.now()
    if not now.front and not now.back and now.rest is not None and not now.usual:
        index.close(1, (LENGTH,))


def _spliced(shape: Shape, place: int, inner: Shape) -> Shape:
    """The sizes of ``inner`` at a place of the shape."""
    if inner.rank() is None and place == 0 and shape.rank() is not None:
        return appended(inner, *shape.now().front)
    inner.close(inner.likely_rank())
    for number, size in enumerate(inner.now().front):
        shape = inserted(shape, place + number if place >= 0 else place, size)
    return shape


def _with_new(shape: Shape, steps: tuple[Any, ...]) -> Shape:
    """With the dimensions that ``None`` adds."""
    kept = [step for step in steps if not isinstance(step, int)]
    whole = Ellipsis in [step for step in kept if not isinstance(step, Tensor)]
    for number, step in enumerate(kept):
        if step is None:
            after = not whole or Ellipsis not in [s for s in kept[number:] if not isinstance(s, Tensor)]
            place = number - len(kept) if whole and after else number
            shape = inserted(shape, place, Size(1, 1))
    return shape


def _reached(size: Size, least: int) -> None:
    """Single places of it are read: then it has hardly more."""
    if size.known() is None and least > 1:
        size.least = max(size.least, least)
        size.usual = size.least


def _sliced(size: Size, part: slice) -> Size:
    start, stop, step = part.start, part.stop, part.step
    if step not in (None, 1) or isinstance(start, Tensor) or isinstance(stop, Tensor):
        raise Unmodelled("a step")
    known = size.known()
    if known is not None:
        left = len(range(known)[part])
        return Size(1, left) if left else Size()
    if not start and stop is None:
        return size
    if (start or 0) >= 0 and stop is not None and stop > 0:
        size.least = max(size.least, int(stop))
        return Size(1, int(stop) - int(start or 0))
    off = abs(int(start or 0)) if stop is None or start else abs(int(stop))
    if stop is None and start < 0:
        return Size(1, -int(start))
    rest = Size(max(1, size.usual - off))
    size.unite(Size(parts=(Size(1, off), rest), usual=size.usual))
    return rest


def _gathered(op: Operation) -> Any:
    whole, dim, index = op.tensor(0, "input"), int(op.given(1, "dim")), op.tensor(2, "index")
    if shape_of(index).usual:
        shape_of(index).close(shape_of(index).likely_rank())
    unite_but(shape_of(whole), shape_of(index), dim)
    must_be(index, "int", shape_of(whole).at(dim))
    return op.result(shape_of(index), None, kind_of_values(whole))


def _scattered(op: Operation) -> Any:
    whole, dim, index = op.tensor(0, "input"), int(op.given(1, "dim")), op.tensor(2, "index")
    must_be(index, "int", shape_of(whole).at(dim))
    source = op.given(3, "src")
    if isinstance(source, Tensor):
        unite(shape_of(index), shape_of(source))
    unite_but(shape_of(whole), shape_of(index), dim)
    return op.result(shape_of(whole), whole, kind_of_values(whole))


def _added_at(op: Operation) -> Any:
    whole, dim, index = op.tensor(0, "input"), int(op.given(1, "dim")), op.tensor(2, "index")
    must_be(index, "int", shape_of(whole).at(dim))
    shape_of(index).close(1)
    source = op.given(3, "source")
    if isinstance(source, Tensor):
        unite_but(shape_of(whole), shape_of(source), dim)
        shape_of(index).at(0).unite(shape_of(source).at(dim))
    return op.result(shape_of(whole), whole, kind_of_values(whole))


def _selected(op: Operation) -> Any:
    whole, dim, index = op.tensor(0, "input"), int(op.given(1, "dim")), op.tensor(2, "index")
    must_be(index, "int", shape_of(whole).at(dim))
    shape_of(index).close(1)
    return op.result(replaced(shape_of(whole), dim, shape_of(index).at(0)), None, kind_of_values(whole))


def _repeated(op: Operation) -> Any:
    must_be(op.given(1, "repeats"), "int")
    raise Unmodelled("as many as the values tell")


def _one_hot(op: Operation) -> Any:
    taken, classes = op.open(0), int(op.given(1, "num_classes", -1))
    if classes < 1:
        raise Unmodelled("as many classes as there are")
    must_be(taken, "int", classes)
    return op.result(appended(taken.shape_now, Size(1, classes)), None, "int")


def _filled(op: Operation) -> Any:
    whole, mask = op.tensor(0, "input"), op.tensor(1, "mask")
    must_be(mask, "bool")
    shape = broadcast(shape_of(whole), shape_of(mask))
    return op.result(shape, None, kind_of_values(whole))


def _as_real(op: Operation) -> Any:
    taken = op.open(0)
    if taken.origin is not None:
        taken.origin.complex = True
    return op.result(appended(taken.shape_now, Size(1, 2)))


def _as_complex(op: Operation) -> Any:
    taken = op.open(0)
    taken.shape_now.at(-1).must_be(2)
    raise Unmodelled("complex numbers")


MODELS: dict[str, Model] = {
    **dict.fromkeys(("gather", "take_along_dim"), _gathered),
    **dict.fromkeys(("scatter", "scatter_", "scatter_add", "scatter_add_"), _scattered),
    **dict.fromkeys(("index_add", "index_add_"), _added_at),
    **dict.fromkeys(("masked_fill", "masked_fill_"), _filled),
    "__getitem__": _item,
    "__setitem__": _set_item,
    "index_select": _selected,
    "one_hot": _one_hot,
    "repeat_interleave": _repeated,
    "view_as_real": _as_real,
    "view_as_complex": _as_complex,
}
