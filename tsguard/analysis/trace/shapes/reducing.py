"""Shapes of what is left when dimensions are summed up, searched, compared or weighed by a loss."""

from __future__ import annotations

from collections.abc import Callable

from tsguard.analysis import values as py
from tsguard.analysis.trace.shapes import computing
from tsguard.analysis.trace.shapes.dims import ONE, number
from tsguard.analysis.trace.shapes.extents import Extent, broadcast
from tsguard.analysis.trace.shapes.operation import Operation, Shaped, extent_of

LAST = py.Const(-1)


def _with_arguments(op: Operation, dim: py.Value | None, keepdim: py.Value | None) -> Shaped:
    """What ``reduced`` gives for a function whose arguments stand elsewhere."""
    given = {name: value for name, value in (("dim", dim), ("keepdim", keepdim)) if value is not None}
    return computing.reduced(Operation(op.facts, op.args[:1], {**op.kwargs, **given}, op.learns))


def spread(op: Operation) -> Shaped:
    """``x.var(dim, unbiased, keepdim)``, and ``x.var(unbiased)`` of all elements."""
    over = op.given(1, "dim", "axis")
    if isinstance(over, py.Const) and isinstance(over.value, bool):
        return Extent()
    return _with_arguments(op, over, op.given(3, "keepdim"))


def by_rank(op: Operation) -> Shaped:
    """``x.quantile(q, dim, keepdim)`` for one ``q``."""
    share = op.given(1, "q")
    if isinstance(share, py.TensorValue) or share is None:
        return None
    return _with_arguments(op, op.given(2, "dim"), op.given(3, "keepdim"))


def of_rank(op: Operation) -> Shaped:
    """``x.kthvalue(k, dim, keepdim)``: of the last dimension, where none is given."""
    return _with_arguments(op, op.given(2, "dim") or LAST, op.given(3, "keepdim"))


def commonest(op: Operation) -> Shaped:
    """``x.mode(dim, keepdim)``: of the last dimension, where none is given."""
    return _with_arguments(op, op.given(1, "dim") or LAST, op.given(2, "keepdim"))


def under_curve(op: Operation) -> Shaped:
    """``torch.trapezoid(y, x, dim)``."""
    return _with_arguments(op, op.kwargs.get("dim", LAST), None)


def _first_two(op: Operation, *names: str) -> Extent | None:
    """Two tensors, broadcast."""
    values = [op.given(index, name) for index, name in enumerate(names)]
    shapes = [None if value is None else extent_of(op.facts, value) for value in values]
    return broadcast(shapes[0], shapes[1])


def similar(op: Operation) -> Shaped:
    """``F.cosine_similarity(a, b, dim)``."""
    shape, index = _first_two(op, "x1", "x2"), op.whole(2, "dim", 1)
    return None if shape is None or index is None else shape.replaced(index)


def apart(op: Operation) -> Shaped:
    """``F.pairwise_distance(a, b, p, eps, keepdim)``: of the last dimension."""
    shape, keeps = _first_two(op, "x1", "x2"), op.flag(4, "keepdim")
    return None if shape is None or keeps is None else shape.replaced(-1, *([ONE] if keeps else []))


def shortened(op: Operation) -> Shaped:
    """``torch.diff(x, n, dim)``: as many fewer."""
    shape, times, index = op.shape(), op.whole(1, "n", 1), op.whole(2, "dim", -1)
    if shape is None or times is None or index is None or op.kwargs.keys() & {"prepend", "append"}:
        return None
    dim = shape.at(index)
    return shape.replaced(index, None if dim is None else dim.plus(number(times), -1))


def _is_reduced(op: Operation) -> bool | None:
    """Whether a loss comes to one number; None where that is not told."""
    if len(op.args) > 3 or op.kwargs.keys() & {"size_average", "reduce"}:
        return None
    how = op.kwargs.get("reduction")
    found = "mean" if how is None else py.constant(how)
    return found != "none" if isinstance(found, str) else None


def weighed(op: Operation) -> Shaped:
    """``F.mse_loss(x, target, reduction=...)``: a number, or one for each element."""
    is_reduced = _is_reduced(op)
    if is_reduced is None:
        return None
    return Extent() if is_reduced else _first_two(op, "input", "target")


def weighed_by_class(op: Operation) -> Shaped:
    """``F.cross_entropy(x, target, reduction=...)``: a number, or one for each target."""
    is_reduced, shape, target = _is_reduced(op), op.shape(), op.shape(1, "target")
    if is_reduced:
        return Extent()
    if is_reduced is None or shape is None or target is None or None in (shape.rank, target.rank):
        return None
    return target if target.rank != shape.rank else shape.replaced(1)


_LOSSES = (
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "huber_loss", "kl_div", "l1_loss", "mse_loss",
    "poisson_nll_loss", "smooth_l1_loss", "soft_margin_loss",
)  # fmt: skip

REDUCING: dict[str, Callable[[Operation], Shaped]] = {
    **dict.fromkeys(_LOSSES, weighed),
    **dict.fromkeys(("cross_entropy", "nll_loss"), weighed_by_class),
    **dict.fromkeys(("std", "var", "std_mean", "var_mean"), spread),
    **dict.fromkeys(("quantile", "nanquantile"), by_rank),
    **dict.fromkeys(("trapz", "trapezoid"), under_curve),
    **dict.fromkeys(("aminmax", "count_nonzero", "nanmedian"), computing.reduced),
    "cosine_similarity": similar,
    "diff": shortened,
    "kthvalue": of_rank,
    "mode": commonest,
    "pairwise_distance": apart,
    "vector_norm": computing.normed,
}
"""The rules, by the names of the functions."""
