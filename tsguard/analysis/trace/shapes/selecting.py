"""Shapes that rest on data: as many elements as fulfil a condition."""

from __future__ import annotations

import ast

from tsguard.analysis import values as py
from tsguard.analysis.trace.shapes import computing
from tsguard.analysis.trace.shapes.dims import Dim, Symbol, number, symbol_dim
from tsguard.analysis.trace.shapes.extents import Extent
from tsguard.analysis.trace.shapes.operation import Operation, Shaped, extent_of
from tsguard.analysis.trace.values import Traced


def _many(*parts: py.Value) -> Dim:
    """As many as only the data in some values tells."""
    return symbol_dim(Symbol("data", parts))


def found(op: Operation) -> Shaped:
    """``x.nonzero()``: the indices of so many elements."""
    if not op.args:
        return None
    if isinstance(op.kwargs.get("as_tuple"), py.Const) and op.kwargs["as_tuple"] == py.TRUE:
        return Extent((_many(op.args[0]),))
    shape = op.shape()
    rank = None if shape is None else shape.rank
    return Extent((_many(op.args[0]), None if rank is None else number(rank)))


def chosen(op: Operation) -> Shaped:
    """``torch.where(condition)``: indices; with two more arguments, elements of these."""
    return computing.together(op) if len(op.args) + len(op.kwargs) > 1 else Extent((_many(*op.args),))


def picked(op: Operation) -> Shaped:
    """``torch.masked_select(x, mask)``, ``torch.bincount(x)``: a row of so many."""
    return Extent((_many(*op.args),)) if op.args else None


def distinct(op: Operation) -> Shaped:
    """``x.unique()``: as many as differ, of all elements or along a dimension."""
    if not op.args or "dim" in op.kwargs or len(op.args) > 1:
        return None
    one, alike = Extent((_many(op.args[0]),)), op.shape()
    inverse = op.kwargs.get("return_inverse") == py.TRUE
    counts = op.kwargs.get("return_counts") == py.TRUE
    return [one, *([alike] if inverse else ()), *([one] if counts else ())] if inverse or counts else one


def repeated_each(op: Operation) -> Shaped:
    """``x.repeat_interleave(counts, dim)`` with a tensor of counts."""
    counts, dim = op.given(1, "repeats"), op.whole(2, "dim")
    if not isinstance(counts, Traced) or "output_size" in op.kwargs:
        return None
    shape = op.shape()
    if dim is None:
        return Extent((_many(*op.args[:2]),))
    return None if shape is None else shape.replaced(dim, _many(*op.args[:2]))


def masked(op: Operation) -> Shaped:
    """``x[mask]``: as many as the mask lets through, and the dimensions that it does not cover."""
    owner, key = op.args[:2]
    if not isinstance(key, py.TensorValue) or not _is_mask(key):
        return None
    shape, mask = op.shape(), extent_of(op.facts, key)
    if shape is None or mask is None:
        return None
    if shape == mask:
        return Extent((_many(owner, key),))
    if shape.lead is not None or mask.rank is None or mask.rank > len(shape.dims):
        return None
    return Extent((_many(owner, key), *shape.dims[mask.rank :]))


def _is_mask(key: py.TensorValue) -> bool:
    """Whether a tensor holds what is true or false."""
    step = key.origin.node if isinstance(key, Traced) else None
    if isinstance(step, ast.UnaryOp):
        return isinstance(step.op, ast.Invert)
    return key.dtype == "bool" or isinstance(step, ast.Compare)
