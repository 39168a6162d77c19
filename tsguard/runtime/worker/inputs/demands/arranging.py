"""Tensors joined, taken apart, and looked at in another order of dimensions."""

from __future__ import annotations

import math
import sys
from typing import Any

from tsguard.runtime.worker.inputs.demands.operation import (
    Model,
    Operation,
    Unmodelled,
    inserted,
    removed,
    replaced,
    shape_of,
    unite_but,
)
from tsguard.runtime.worker.inputs.demands.shapes import Shape, Size, broadcast, unite
from tsguard.runtime.worker.inputs.demands.standins import Length, StandIn, unpacked_into


def _joined(op: Operation) -> Any:
    parts, dim = op.given(0, "tensors"), int(op.given(1, "dim", 0))
    shapes = [shape_of(part) for part in parts]
    for other in shapes[1:]:
        unite_but(shapes[0], other, dim)
    sizes = [shape.at(dim) for shape in shapes]
    for part, size in zip(parts, sizes, strict=True):
        for source in part.sources if isinstance(part, StandIn) else ():
            source.computed_with = True
        origin = part.origin if isinstance(part, StandIn) else None
        if origin is not None:
            size.names = (*size.names, origin.name)
    total = Size(parts=tuple(sizes), channels=dim == 1)
    op.session.sums.append(total)
    return op.result(replaced(shapes[0], dim, total))


def _stacked(op: Operation) -> Any:
    parts, dim = op.given(0, "tensors"), int(op.given(1, "dim", 0))
    first = shape_of(parts[0])
    for other in parts[1:]:
        unite(first, shape_of(other))
    return op.result(inserted(first, dim, Size(1, len(parts))))


def _unsqueezed(op: Operation) -> Any:
    taken = op.open(0)
    return op.result(inserted(taken.shape_now, int(op.given(1, "dim")), Size(1, 1)), taken)


def _squeezed(op: Operation) -> Any:
    taken, dim = op.open(0), op.given(1, "dim")
    if not isinstance(dim, int) or taken.shape_now.at(dim).known() not in (None, 1):
        raise Unmodelled("squeeze")
    return op.result(removed(taken.shape_now, [dim]), taken)


def _permuted(op: Operation) -> Any:
    taken, order = op.open(0), [int(dim) for dim in op.numbers(1, "dims")]
    taken.shape_now.close(len(order))
    front = taken.shape_now.now().front
    return op.result(Shape(tuple(front[dim] for dim in order)), taken)


def _transposed(op: Operation) -> Any:
    taken = op.open(0)
    one, other = (int(op.given(1, "dim0", -1)), int(op.given(2, "dim1", -2)))
    if op.name in ("t", "T.__get__"):
        taken.shape_now.close(2)
    elif taken.shape_now.rank() is None and min(one, other) > 0:
        taken.shape_now.close(max(one, other) + 1)
    if taken.shape_now.rank() is None and (one < 0) != (other < 0):
        taken.shape_now.close(taken.shape_now.likely_rank())
    left, right = taken.shape_now.at(one, apart=True), taken.shape_now.at(other, apart=True)
    return op.result(replaced(replaced(taken.shape_now, one, right), other, left), taken)


def _split(op: Operation) -> Any:
    taken, dim = op.open(0), int(op.given(2, "dim", 0))
    given, whole = op.given(1, "split_size_or_sections"), taken.shape_now.at(dim)
    if not isinstance(given, (tuple, list)):
        raise Unmodelled("as many parts as there are")
    whole.must_be(sum(map(int, given)))
    return tuple(op.result(replaced(taken.shape_now, dim, Size(1, int(n))), taken) for n in given)


def _chunked(op: Operation) -> Any:
    taken, dim, count = op.open(0), int(op.given(2, "dim", 0)), int(op.given(1, "chunks"))
    whole = taken.shape_now.at(dim)
    if whole.known() is None:
        part = Size(max(1, whole.usual // count))
        whole.unite(Size(parts=(part,) * count))
    else:
        part, rest = Size(), (whole.known() or 0) % count
        if rest:
            raise Unmodelled("parts that differ")
        part.must_be((whole.known() or count) // count)
    return tuple(op.result(replaced(taken.shape_now, dim, part), taken) for _ in range(count))


def _unbound(op: Operation) -> Any:
    taken = op.open(0)
    dim = int(op.given(1, "dim", 0))
    frame = sys._getframe()
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith(
        ("tsguard.", "torch.")
    ):
        frame = frame.f_back
    count, size = unpacked_into(frame), taken.shape_now.at(dim)
    if count is not None and size.known() is None:
        size.must_be(count)
    rows = range(size.decide(op.session.hints))
    parts = tuple(op.result(removed(taken.shape_now, [dim]), taken) for _ in rows)
    return parts if op.name == "unbind" else iter(parts)


def _expanded(op: Operation) -> Any:
    taken, sizes = op.open(0), op.numbers(1, "size")
    if taken.shape_now.rank() is None:
        taken.shape_now.close(len(sizes))
    own = taken.shape_now.now().front
    made = []
    for place, wanted in enumerate(sizes, len(own) - len(sizes)):
        size = own[place] if place >= 0 else None
        if size is not None and wanted == -1:
            made.append(size)
            continue
        made.append(wanted.size.now() if isinstance(wanted, Length) else Size(1, int(wanted)))
        if size is not None and size.known() != 1:
            size.unite(made[-1])
    return op.result(Shape(tuple(made)), taken)


def _expanded_as(op: Operation) -> Any:
    taken, other = op.open(0), shape_of(op.tensor(1, "other"))
    broadcast(taken.shape_now, other)
    return op.result(other, taken)


def _flattened(op: Operation) -> Any:
    """All dimensions from one on are one; how many these are is the least or the usual number."""
    taken, start = op.open(0), int(op.given(1, "start_dim", 0))
    if start < 0 or op.given(2, "end_dim", -1) != -1:
        raise Unmodelled("some dimensions in the middle")
    shape = taken.shape_now
    if shape.rank() is None:
        shape.close(max(shape.likely_rank(), start + 2))
    front = shape.now().front
    return op.result(Shape((*front[:start], Size(factors=front[start:]))), taken)


def _viewed(op: Operation) -> Any:
    """The first sizes as they were, and the last one in parts; or sizes that all have names."""
    taken, sizes = op.open(0), op.numbers(1, "shape")
    shape = taken.shape_now
    if sizes == [-1]:
        shape.close(shape.likely_rank())
        return op.result(Shape((Size(factors=shape.now().front),)), taken)
    if shape.rank() is None and shape.likely_rank() < 3:
        whole = all(type(n) is int and n > 0 for n in sizes) and shape.at(-1).known() == math.prod(sizes)
        row = -1 in sizes and all(n in (1, -1) for n in sizes)
        shape.close(1 if whole or row else min(2, len(sizes)))
    own = shape.now().front
    kept = 0
    while shape.rank() is not None and kept < min(len(own), len(sizes)) and _is_size(sizes[kept], own[kept]):
        kept += 1
    if shape.rank() == 2 and not kept and (sizes[0] == -1 or isinstance(sizes[0], Length)):
        kept = _same_rows(own[0], sizes[0])
    if shape.rank() == kept + 1:
        return op.result(Shape((*own[:kept], *_parts(own[kept], sizes[kept:]))), taken)
    if len(sizes) == 2 and sizes[0] == -1 and shape.rank() is not None:
        return op.result(Shape((Size(), _last_kept(own[-1], sizes[1]))))
    if -1 in sizes or not any(isinstance(n, Length) for n in sizes):
        raise Unmodelled("sizes that are multiplied")
    return op.result(Shape(tuple(map(_as_size, sizes))))


def _last_kept(size: Size, wanted: Any) -> Size:
    """``x.view(-1, n)``: all but the last size in one."""
    if isinstance(wanted, Length):
        return size.unite(wanted.size)
    if size.known() is None:
        size.must_be(int(wanted))
    if size.known() != int(wanted):
        raise Unmodelled("parts that do not fit")
    return size


def _same_rows(size: Size, wanted: Any) -> int:
    if isinstance(wanted, Length):
        size.unite(wanted.size)
    return 1


def _parts(whole: Size, sizes: list[Any]) -> list[Size]:
    """The sizes that one is taken apart into; the one that is open is the rest."""
    made = [Size(1) if n == -1 else _as_size(n) for n in sizes]
    unknown = [size for size in made if size.known() is None]
    known = math.prod(size.known() or 1 for size in made)
    if not unknown:
        whole.must_be(known)
    elif len(unknown) == 1:
        if whole.known() is None:
            whole.must_be(known * max(1, whole.now().usual // known))
        if (whole.known() or 0) % known:
            raise Unmodelled("parts that do not fit")
        unknown[0].must_be((whole.known() or known) // known)
    return made


def _as_size(number: Any) -> Size:
    return number.size.now() if isinstance(number, Length) else Size(1, int(number))


def _is_size(number: Any, size: Size) -> bool:
    known = size.known()
    if isinstance(number, Length):
        return number.size.now() is size.now()
    return known is not None and number == known


MODELS: dict[str, Model] = {
    **dict.fromkeys(("cat", "concat", "concatenate"), _joined),
    **dict.fromkeys(("unbind", "__iter__"), _unbound),
    **dict.fromkeys(("transpose", "swapaxes", "swapdims", "t", "T.__get__", "mT.__get__"), _transposed),
    **dict.fromkeys(("view", "reshape"), _viewed),
    "stack": _stacked,
    "unsqueeze": _unsqueezed,
    "squeeze": _squeezed,
    "permute": _permuted,
    "split": _split,
    "chunk": _chunked,
    "expand": _expanded,
    "expand_as": _expanded_as,
    "flatten": _flattened,
}
