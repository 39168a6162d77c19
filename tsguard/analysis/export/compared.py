"""Functions that hold their tensor's sizes, or compare them: torch.export then has those of the example, or its side.

Each was exported by torch 2.13 with an open first dimension, and its program given other batches.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.export import sizes
from tsguard.analysis.trace import shaping
from tsguard.analysis.trace.shapes.dims import Dim
from tsguard.analysis.trace.shapes.operation import dim_of
from tsguard.analysis.trace.values import Traced

if TYPE_CHECKING:
    from tsguard.analysis.trace.context import Tracer

Args = list[py.Value]
Kwargs = dict[str, py.Value]

# The largest and the least singular value are taken of as many as the example has.
_BY_SINGULAR_VALUE = (2, -2)
# By the lesser of two sizes.
_OF_MATRICES = frozenset({"pinv", "matrix_rank", "pca_lowrank", "svd_lowrank"})
_ALONG_ONE = frozenset({"fft", "ifft", "rfft", "irfft", "hfft", "ihfft"})
_ALONG_SEVERAL = frozenset({"fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn"})
_ALONG_TWO = frozenset({"fft2", "ifft2", "rfft2", "irfft2", "hfft2", "ihfft2"})
# The last dimension comes after the others, which it is left over by then.
_IN_TWO_STEPS = frozenset({"irfftn", "hfftn", "ihfftn", "irfft2", "hfft2", "ihfft2"})


def called(tracer: Tracer, name: str, args: Args, kwargs: Kwargs, node: ast.AST) -> None:
    """A function or method of torch is called; ``args`` begin with its tensor."""
    short = name.rpartition(".")[2]
    asks = _of_fft if name.startswith("torch.fft.") else _ASKING.get(short) or _ASKING.get(name)
    tensor = args[0] if args else kwargs.get("input", py.NONE)
    if asks is not None and isinstance(tensor, Traced):
        asks(tracer, short, tensor, args, kwargs, node)


def _by_rank(tracer: Tracer, short: str, tensor: Traced, args: Args, kwargs: Kwargs, node: ast.AST) -> None:
    """``torch.linalg.pinv(x)``: which of the last two sizes is the lesser one."""
    if _rank(tracer, tensor) == 2:
        sizes.compared(tracer, tensor, _dims(tracer, tensor), node)


def _by_norm(tracer: Tracer, short: str, tensor: Traced, args: Args, kwargs: Kwargs, node: ast.AST) -> None:
    """``torch.linalg.matrix_norm(x, 2)``."""
    order = py.constant(args[1] if len(args) > 1 else kwargs.get("ord", py.NONE))
    along = args[2] if len(args) > 2 else kwargs.get("dim", py.NONE)
    is_of_matrix = short == "matrix_norm" or isinstance(along, (py.TupleValue, py.ListValue))
    is_of_matrix = is_of_matrix or (py.is_none(along) and _rank(tracer, tensor) == 2)
    if order in _BY_SINGULAR_VALUE and is_of_matrix:
        sizes.held(tracer, tensor, _dims(tracer, tensor), node)


def _pooled(tracer: Tracer, short: str, tensor: Traced, args: Args, kwargs: Kwargs, node: ast.AST) -> None:
    """``max_pool1d(x, 2)``, along the last dimension."""
    sizes.held(tracer, tensor, [shaping.size_along(tracer, tensor, -1)], node)


def _divided(tracer: Tracer, short: str, tensor: Traced, args: Args, kwargs: Kwargs, node: ast.AST) -> None:
    """``x.tensor_split(3)``: by how many sizes are larger than the others."""
    how = args[1] if len(args) > 1 else kwargs.get("indices_or_sections", kwargs.get("sections", py.NONE))
    along = py.constant(args[2] if len(args) > 2 else kwargs.get("dim", py.Const(0)))
    if isinstance(py.constant(how), int) and isinstance(along, int):
        sizes.compared(tracer, tensor, [shaping.size_along(tracer, tensor, along)], node)


def _transformed(
    tracer: Tracer, short: str, tensor: Traced, args: Args, kwargs: Kwargs, node: ast.AST
) -> None:
    """``torch.fft.fft(x, dim=0)``: with the one dimension that is left, and with the length that is asked for."""
    asked = args[1] if len(args) > 1 else kwargs.get("n", kwargs.get("s", py.NONE))
    along = args[2] if len(args) > 2 else kwargs.get("dim")
    rank = _rank(tracer, tensor)
    places = _places(short, along, rank)
    if places is None:
        return
    dims = [shaping.size_along(tracer, tensor, place) for place in places]
    left = None if rank is None else rank - len(dims)
    if left == 1 or (left == 0 and len(dims) > 1 and short in _IN_TWO_STEPS):
        sizes.compared(tracer, tensor, dims, node)
    if short in _ALONG_ONE and not py.is_none(asked) and (length := dim_of(asked)) != dims[0]:
        sizes.compared(tracer, tensor, [*dims, length], node)


def _places(short: str, along: py.Value | None, rank: int | None) -> list[int] | None:
    """The dimensions that are transformed; None where that is not told."""
    if short in _ALONG_ONE:
        place = -1 if along is None else py.constant(along)
        return [place] if isinstance(place, int) else None
    if along is None or py.is_none(along):
        if short in _ALONG_TWO:
            return [-2, -1]
        return None if rank is None else list(range(rank))
    found = [py.constant(one) for one in getattr(along, "items", ())]
    return [place for place in found if isinstance(place, int)] if found else None


def _rank(tracer: Tracer, tensor: Traced) -> int | None:
    extent = shaping.extent(tracer, tensor)
    return None if extent is None else extent.rank


def _dims(tracer: Tracer, tensor: Traced) -> list[Dim | None]:
    extent = shaping.extent(tracer, tensor)
    return [] if extent is None else [extent.first, *extent.dims]


_Asks = Callable[["Tracer", str, Traced, Args, Kwargs, ast.AST], None]


def _of_fft(tracer: Tracer, short: str, tensor: Traced, args: Args, kwargs: Kwargs, node: ast.AST) -> None:
    if short in _ALONG_ONE | _ALONG_SEVERAL | _ALONG_TWO:
        _transformed(tracer, short, tensor, args, kwargs, node)


_ASKING: dict[str, _Asks] = {
    **dict.fromkeys(_OF_MATRICES, _by_rank),
    "torch.linalg.norm": _by_norm,
    "torch.linalg.matrix_norm": _by_norm,
    "max_pool1d": _pooled,
    "tensor_split": _divided,
}
