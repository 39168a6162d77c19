"""Shapes of what is cut into windows, put together again, or sampled at other places."""

from __future__ import annotations

from collections.abc import Callable

from tsguard.analysis import values as py
from tsguard.analysis.trace.shapes.dims import ONE, Dim, number
from tsguard.analysis.trace.shapes.extents import Extent, product
from tsguard.analysis.trace.shapes.operation import Operation, Shaped, extent_of
from tsguard.analysis.trace.shapes.windows import Window, slid, slid_back


def unfolded(op: Operation) -> Shaped:
    """``x.unfold(dimension, size, step)``: windows as a last dimension."""
    shape, index = op.shape(), op.whole(1, "dimension")
    length, step = op.dim(op.given(2, "size")), op.dim(op.given(3, "step"))
    if shape is None or index is None or length is None or step is None:
        return None
    dim = shape.at(index)
    steps = None if dim is None else dim.plus(length, -1).floor(step)
    found = shape.replaced(index, None if steps is None else steps.plus(ONE))
    return None if found is None else found.followed_by(length)


def patched(op: Operation) -> Shaped:
    """``F.unfold(x, kernel_size, dilation, padding, stride)`` of images: patches in columns."""
    shape, kernel = op.takes_rank(op.shape(), 4), op.numbers(op.given(1, "kernel_size"), 2)
    if shape is None or shape.lead is not None or len(shape.dims) != 4 or kernel is None:
        return None
    window = Window(
        kernel,
        op.numbers(op.given(4, "stride") or py.Const(1), 2),
        op.numbers(op.given(3, "padding") or py.Const(0), 2),
        op.numbers(op.given(2, "dilation") or py.Const(1), 2),
    )
    ends = slid(shape, 2, window, None).last(2)
    return Extent((shape.dims[0], product((shape.dims[1], number(kernel[0] * kernel[1]))), product(ends)))


def folded(op: Operation) -> Shaped:
    """``F.fold(x, output_size, kernel_size, ...)``, of columns with a batch."""
    shape, kernel = op.takes_rank(op.shape(), 3), op.numbers(op.given(2, "kernel_size"), 2)
    sizes = op.given(1, "output_size")
    if shape is None or shape.rank != 3 or kernel is None or sizes is None:
        return None
    items = sizes.items if isinstance(sizes, (py.TupleValue, py.ListValue)) else [sizes, sizes]
    channels = shape.at(1)
    few = None if channels is None else channels.over(number(kernel[0] * kernel[1]))
    return Extent((shape.at(0), few, *map(op.dim, items))) if len(items) == 2 else None


def gridded(op: Operation) -> Shaped:
    """``F.grid_sample(x, grid)``: as many places as the grid has."""
    shape, grid = op.shape(), op.shape(1, "grid")
    if shape is None or grid is None or grid.lead is not None:
        return None
    return Extent((shape.at(0), shape.at(1), *grid.dims[1:-1]))


def affine(op: Operation) -> Shaped:
    """``F.affine_grid(theta, size)``."""
    given = op.given(1, "size")
    sizes = None if given is None else Operation(op.facts, [given]).dims(0)
    return None if sizes is None else Extent((sizes[0], *sizes[2:], number(len(sizes) - 2)))


def shrunk_by(op: Operation) -> Shaped:
    """``F.pixel_unshuffle(x, downscale_factor)``."""
    shape, factor = op.shape(), op.whole(1, "downscale_factor")
    if shape is None or not factor:
        return None
    sides = (None if dim is None else dim.floor(number(factor)) for dim in shape.last(2))
    return shape.with_last(product((shape.at(-3), number(factor * factor))), *sides)


def gated(op: Operation) -> Shaped:
    """``F.glu(x, dim)``: one half is the gate of the other."""
    shape, index = op.shape(), op.whole(1, "dim", -1)
    if shape is None or index is None:
        return None
    dim = shape.at(index)
    return shape.replaced(index, None if dim is None else dim.floor(number(2)))


def convolved_back(count: int) -> Callable[[Operation], Shaped]:
    """``F.conv_transpose2d(x, weight, bias, stride, padding, output_padding, groups, dilation)``."""

    def rule(op: Operation) -> Shaped:
        weight, groups = op.shape(1, "weight"), op.whole(6, "groups", 1)
        shape = op.takes_rank(op.shape(), count + 2)
        if weight is None or weight.rank != count + 2 or shape is None or groups is None:
            return None
        op.takes(shape, -count - 1, weight.at(0))
        return slid_back(
            op.facts.extent(shape),
            count,
            Window(
                _numbers(op, weight.last(count)),
                op.numbers(op.given(3, "stride") or py.Const(1), count),
                op.numbers(op.given(4, "padding") or py.Const(0), count),
                op.numbers(op.given(7, "dilation") or py.Const(1), count),
            ),
            op.numbers(op.given(5, "output_padding") or py.Const(0), count),
            product((weight.at(1), number(groups))),
        )

    return rule


def _numbers(op: Operation, dims: tuple[Dim | None, ...]) -> list[int] | None:
    found = [op.facts.number(dim) for dim in dims]
    told = [size for size in found if size is not None]
    return told if len(told) == len(found) else None


def power_pooled(count: int) -> Callable[[Operation], Shaped]:
    """``F.lp_pool2d(x, norm_type, kernel_size, stride, ceil_mode)``."""

    def rule(op: Operation) -> Shaped:
        shape, kernel, stride = op.shape(), op.given(2, "kernel_size"), op.given(3, "stride")
        if shape is None:
            return None
        step = kernel if stride is None or py.is_none(stride) else stride
        ceil = op.flag(4, "ceil_mode")
        window = Window(op.numbers(kernel, count), op.numbers(step, count), [0] * count, [1] * count, ceil)
        return slid(shape, count, window, shape.at(-count - 1))

    return rule


def drawn(op: Operation) -> Shaped:
    """``torch.multinomial(weights, num_samples)``."""
    shape, many = op.shape(), op.dim(op.given(1, "num_samples"))
    return None if shape is None else shape.with_last(many)


def binned(op: Operation) -> Shaped:
    """``torch.histc(x, bins)``."""
    given = op.given(1, "bins")
    return Extent((number(100) if given is None else op.dim(given),))


def found_among(op: Operation) -> Shaped:
    """``torch.searchsorted(sorted, values)``."""
    values = op.given(1, "input", "values")
    return None if values is None else extent_of(op.facts, values)


SAMPLING: dict[str, Callable[[Operation], Shaped]] = {
    **{f"conv_transpose{count}d": convolved_back(count) for count in (1, 2, 3)},
    **{f"lp_pool{count}d": power_pooled(count) for count in (1, 2, 3)},
    "affine_grid": affine,
    "fold": folded,
    "glu": gated,
    "grid_sample": gridded,
    "histc": binned,
    "multinomial": drawn,
    "pixel_unshuffle": shrunk_by,
    "searchsorted": found_among,
    "unfold": unfolded,
}
"""The rules, by the names of the functions."""
