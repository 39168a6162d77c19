"""Shapes of convolutions, pooling and what else slides over the last dimensions."""

from __future__ import annotations

from tsguard.analysis import values as py
from tsguard.analysis.trace.shapes.dims import ONE, Dim, number, unknown_constant
from tsguard.analysis.trace.shapes.extents import Extent
from tsguard.analysis.trace.shapes.operation import Operation
from tsguard.report.records import dataclass


@dataclass(frozen=True, slots=True)
class Window:
    """How far a window reaches and moves in each dimension; None where it is not known."""

    kernel: list[int] | None
    stride: list[int] | None
    padding: list[int] | None
    dilation: list[int] | None
    ceil: bool | None = False


def slid(shape: Extent, count: int, window: Window, channels: Dim | None) -> Extent:
    """The result of sliding a window over the last ``count`` dimensions of a batched tensor."""
    ends = [_slid(shape.at(index - count), window, index) for index in range(count)]
    return shape.without_last(count + 1).followed_by(channels, *ends)


def _slid(dim: Dim | None, window: Window, index: int) -> Dim | None:
    if not window.kernel or not window.stride or window.padding is None or not window.dilation:
        return _of_unknown(dim)
    if dim is None:
        return None
    kernel, stride = window.kernel[index], window.stride[index]
    reach = 2 * window.padding[index] - window.dilation[index] * (kernel - 1) - 1
    if stride == 1:
        return dim.plus(number(reach + 1))
    if window.ceil is not False:
        whole = dim.number if window.ceil else None
        return None if whole is None else number(_rounded_up(whole, window, index))
    steps = dim.plus(number(reach)).floor(number(stride))
    return None if steps is None else steps.plus(ONE)


def _rounded_up(size: int, window: Window, index: int) -> int:
    """How many windows there are where the last may reach out, if it begins within the tensor or its left padding."""
    assert window.kernel is not None
    assert window.stride is not None
    assert window.padding is not None
    assert window.dilation is not None
    stride, padding = window.stride[index], window.padding[index]
    reach = window.dilation[index] * (window.kernel[index] - 1) + 1
    steps = -((reach - size - 2 * padding) // stride) + 1
    return steps - ((steps - 1) * stride >= size + padding)


def convolved(op: Operation, count: int) -> Extent | None:
    """``F.conv2d(x, weight, bias, stride, padding, dilation, groups)`` of a batched tensor."""
    weight = op.shape(1, "weight")
    if weight is None or weight.lead is not None or len(weight.dims) != count + 2:
        return None
    shape, groups = op.takes_rank(op.shape(), count + 2), op.whole(6, "groups", 1)
    if shape is None:
        return None
    if groups is not None and weight.dims[1] is not None:
        op.takes(shape, -count - 1, weight.dims[1].times(number(groups)))
        shape = op.facts.extent(shape)
    kernel = [op.facts.number(dim) for dim in weight.dims[2:]]
    window = Window(
        [size for size in kernel if size is not None] if None not in kernel else None,
        op.numbers(op.given(3, "stride") or py.Const(1), count),
        padded(op, op.given(4, "padding"), count),
        op.numbers(op.given(5, "dilation") or py.Const(1), count),
    )
    if op.given(4, "padding") == py.Const("same"):
        return shape.without_last(count + 1).followed_by(weight.dims[0], *shape.last(count))
    return slid(shape, count, window, weight.dims[0])


def padded(op: Operation, padding: py.Value | None, count: int) -> list[int] | None:
    """How much a convolution pads on each side: nothing for "valid"."""
    is_left_out = padding is None or padding == py.Const("valid")
    return [0] * count if is_left_out else op.numbers(padding, count)


def pooled(op: Operation, count: int) -> Extent | None:
    """``F.max_pool2d(x, kernel_size, stride, padding, ...)``."""
    shape, kernel, stride = op.shape(), op.given(1, "kernel_size"), op.given(2, "stride")
    if shape is None:
        return None
    window = Window(
        op.numbers(kernel, count),
        op.numbers(kernel if stride is None or py.is_none(stride) else stride, count),
        op.numbers(op.given(3, "padding") or py.Const(0), count),
        op.numbers(op.kwargs.get("dilation", py.Const(1)), count),
        op.flag(9, "ceil_mode") if len(op.args) <= 4 else None,
    )
    return slid(shape, count, window, shape.at(-count - 1))


def _of_unknown(dim: Dim | None) -> Dim | None:
    """The result of a window of which too little is known."""
    return unknown_constant() if dim is not None and dim.is_constant else None


def slid_back(
    shape: Extent, count: int, window: Window, extra: list[int] | None, channels: Dim | None
) -> Extent:
    """The result of a transposed convolution."""
    ends = [_slid_back(shape.at(index - count), window, extra, index) for index in range(count)]
    return shape.without_last(count + 1).followed_by(channels, *ends)


def _slid_back(dim: Dim | None, window: Window, extra: list[int] | None, index: int) -> Dim | None:
    if not window.kernel or not window.stride or window.padding is None or not window.dilation:
        return _of_unknown(dim)
    if dim is None or extra is None:
        return None
    more = window.dilation[index] * (window.kernel[index] - 1) + extra[index] + 1 - 2 * window.padding[index]
    return dim.plus(number(1), -1).times(number(window.stride[index])).plus(number(more))
