"""Shapes of complex tensors and of what Fourier transforms give."""

from __future__ import annotations

from collections.abc import Callable

from tsguard.analysis import values as py
from tsguard.analysis.trace.shapes.dims import ONE, Dim, number
from tsguard.analysis.trace.shapes.extents import Extent, Lead
from tsguard.analysis.trace.shapes.operation import Operation, Shaped

Ending = Callable[[Dim | None], Dim | None]
"""What a transform makes of the last dimension that it goes over, where no size is given."""

TWO = number(2)


def as_real(op: Operation) -> Shaped:
    """``torch.view_as_real(x)``: the real and the imaginary part as a last dimension."""
    shape = op.shape()
    return Extent((TWO,), Lead()) if shape is None else shape.followed_by(TWO)


def as_complex(op: Operation) -> Shaped:
    """``torch.view_as_complex(x)``: the last dimension holds both parts."""
    shape = op.shape()
    return None if shape is None else shape.without_last(1)


def _half(dim: Dim | None) -> Dim | None:
    """Of real numbers one half of the frequencies is enough."""
    half = None if dim is None else dim.floor(TWO)
    return None if half is None else half.plus(ONE)


def _doubled(dim: Dim | None) -> Dim | None:
    return None if dim is None else dim.plus(ONE, -1).times(TWO)


def _as_it_is(dim: Dim | None) -> Dim | None:
    return dim


def along_one(ending: Ending, *, is_sized_after: bool = False) -> Callable[[Operation], Shaped]:
    """``torch.fft.rfft(x, n, dim)``; ``n`` is the size of what goes in, or (``is_sized_after``) of what comes out."""

    def rule(op: Operation) -> Shaped:
        shape, index, size = op.shape(), op.whole(2, "dim", -1), op.given(1, "n")
        if shape is None or index is None:
            return None
        if size is None or py.is_none(size):
            return shape.replaced(index, ending(shape.at(index)))
        wanted = op.dim(size)
        return shape.replaced(index, wanted if is_sized_after else ending(wanted))

    return rule


def along_several(
    ending: Ending, *, is_sized_after: bool = False, dims: tuple[int, ...] = ()
) -> Callable[[Operation], Shaped]:
    """``torch.fft.rfft2(x, s, dim)``, which goes over ``dims`` where none are given; over all without these."""

    def rule(op: Operation) -> Shaped:
        shape, sizes = op.shape(), _each(op, op.given(1, "s"))
        if shape is None or sizes is None:
            return None
        over = _over(op, shape, len(sizes) if sizes else len(dims))
        if over is None or (sizes and len(sizes) != len(over)):
            return None
        wanted = sizes or [shape.at(index) for index in over]
        last = wanted[-1] if sizes and is_sized_after else ending(wanted[-1])
        result: Extent | None = shape
        for index, dim in zip(over, [*wanted[:-1], last], strict=True):
            result = None if result is None else result.replaced(index, dim)
        return result

    return rule


def _each(op: Operation, given: py.Value | None) -> list[Dim | None] | None:
    """The sizes that are given, none if they are left out; None where that is not told."""
    if given is None or py.is_none(given):
        return []
    if not isinstance(given, (py.TupleValue, py.ListValue)) or given.open:
        return None
    return [op.dim(item) for item in given.items]


def _over(op: Operation, shape: Extent, count: int) -> list[int] | None:
    """The dimensions that a transform goes over: those given, else the last ones, else all."""
    given = op.given(2, "dim")
    if given is not None and not py.is_none(given):
        if not isinstance(given, (py.TupleValue, py.ListValue)) or given.open:
            return None
        found = [op.number(item) for item in given.items]
        told = [index for index in found if index is not None]
        return told if told and len(told) == len(found) else None
    rank = count or shape.rank
    return None if not rank else list(range(-rank, 0))


def short_time(op: Operation) -> Shaped:
    """``torch.stft(x, n_fft, hop_length, ...)``: frequencies and frames in the place of the samples."""
    shape, length = op.shape(), op.dim(op.given(1, "n_fft"))
    sides, is_complex = op.flag(8, "onesided", True), op.flag(9, "return_complex")
    if shape is None or length is None or sides is None or is_complex is None:
        return None
    bins = _half(length) if sides else length
    ends = (bins, _frames(op, shape.at(-1), length))
    return shape.without_last(1).followed_by(*ends, *(() if is_complex else (TWO,)))


def _frames(op: Operation, samples: Dim | None, length: Dim) -> Dim | None:
    """How many frames there are of samples, which are padded by half a frame on each side if they are centred."""
    given, is_centred = op.given(2, "hop_length"), op.flag(5, "center", True)
    is_left_out = given is None or py.is_none(given)
    hop = length.floor(number(4)) if is_left_out else op.dim(given)
    if samples is None or hop is None or is_centred is None:
        return None
    padded = _padded(samples, length) if is_centred else samples
    steps = None if padded is None else padded.plus(length, -1).floor(hop)
    return None if steps is None else steps.plus(ONE)


def _padded(samples: Dim, length: Dim) -> Dim | None:
    half = length.floor(TWO)
    return None if half is None else samples.plus(half.times(TWO))


TRANSFORMS: dict[str, Callable[[Operation], Shaped]] = {
    **dict.fromkeys(("fft", "ifft"), along_one(_as_it_is)),
    **dict.fromkeys(("rfft", "ihfft"), along_one(_half)),
    **dict.fromkeys(("irfft", "hfft"), along_one(_doubled, is_sized_after=True)),
    **dict.fromkeys(("fft2", "ifft2"), along_several(_as_it_is, dims=(-2, -1))),
    **dict.fromkeys(("fftn", "ifftn"), along_several(_as_it_is)),
    "rfft2": along_several(_half, dims=(-2, -1)),
    "rfftn": along_several(_half),
    "irfft2": along_several(_doubled, is_sized_after=True, dims=(-2, -1)),
    "irfftn": along_several(_doubled, is_sized_after=True),
    "stft": short_time,
    "view_as_complex": as_complex,
    "view_as_real": as_real,
}
"""The rules, by the names of the functions."""
