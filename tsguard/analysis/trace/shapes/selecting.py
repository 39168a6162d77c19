"""Shapes that rest on data: as many elements as fulfil a condition."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.trace.shapes import computing
from tsguard.analysis.trace.shapes.dims import Dim, Symbol, Unbacked, number, symbol_dim
from tsguard.analysis.trace.shapes.extents import Extent, Lead
from tsguard.analysis.trace.shapes.operation import Operation, Shaped, extent_of
from tsguard.analysis.trace.values import Held, Number, Traced

if TYPE_CHECKING:
    from tsguard.analysis.trace.origins import Origin


def _many(*parts: py.Value) -> Dim:
    """As many as only the data in some values tells."""
    return symbol_dim(Symbol("data", parts))


def _perhaps_many(key: Traced) -> Dim:
    """As many as only the data tells, if a tensor holds truths and no indices."""
    return symbol_dim(Symbol("maybe", (key,)))


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
    if not op.args or len(op.args) > 1 or not py.is_none(op.kwargs.get("dim", py.NONE)):
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
    many = _many(*op.args[:2])
    found = None if shape is None else shape.replaced(dim, many)
    return Extent((), Lead(head=(many,))) if found is None and dim == 0 else found


def masked(op: Operation) -> Shaped:
    """``x[mask]``: as many as the mask lets through, and the dimensions that it does not cover."""
    key = op.args[1]
    if isinstance(key, Traced) and may_be_mask(op, key):
        return Extent((), Lead(head=(_perhaps_many(key),)))
    if not isinstance(key, py.TensorValue) or not is_mask(key):
        return None
    shape, mask, many = op.shape(), extent_of(op.facts, key), _many(key)
    if shape is not None and shape == mask:
        return Extent((many,))
    is_open = shape is None or mask is None or shape.lead is not None or mask.rank is None
    if shape is None or mask is None or mask.rank is None or is_open:
        return Extent((), Lead(head=(many,)))
    return Extent((many, *shape.dims[mask.rank :])) if mask.rank <= len(shape.dims) else None


def sliced(key: py.SliceValue) -> Dim | None:
    """``x[:n]``: as many as data tells, or may tell; None where no bound is of data."""
    kinds = {_unbacked(key.start), _unbacked(key.stop)}
    if kinds == {""}:
        return None
    return _many(key) if "data" in kinds else symbol_dim(Symbol("maybe", (key,)))


def _unbacked(bound: py.Value) -> Unbacked:
    """Whether torch.export has a symbol for a bound, or makes one of a tensor of one number."""
    if isinstance(bound, Number):
        return bound.unbacked
    return "data" if isinstance(bound, Held) or (isinstance(bound, Traced) and not bound.of_size) else ""


def by_indices(op: Operation) -> Shaped:
    """``x[indices]``, where only data tells how many indices there are: as many rows."""
    key = op.args[1]
    many = _count_of_data(op, key) if isinstance(key, py.TensorValue) else None
    if many is None:
        return None
    shape = op.shape()
    found = None if shape is None else shape.replaced(0, many)
    return Extent((), Lead(head=(many,))) if found is None else found


def _count_of_data(op: Operation, key: py.TensorValue) -> Dim | None:
    """How long a row, or maybe more, of indices is, where only data tells that."""
    extent = extent_of(op.facts, key)
    is_row = extent is not None and (extent.rank == 1 or (extent.rank is None and not extent.dims))
    dim = extent.at(0) if extent is not None and is_row else None
    return dim if dim is not None and dim.is_of_data else None


def let_through(op: Operation, mask: py.TensorValue) -> Dim | None:
    """How many a mask lets through along a dimension, or may let through; None for a tensor of indices of which the number is told."""
    if isinstance(mask, Traced) and may_be_mask(op, mask):
        return _perhaps_many(mask)
    return _many(mask) if is_mask(mask) else _count_of_data(op, mask)


# What gives true or false for each element, and what leaves elements as they are.
_ASKING = frozenset(
    [
        "bool", "isnan", "isinf", "isfinite", "logical_not", "logical_and", "logical_or", "logical_xor", "isin",
        "eq", "ne", "gt", "ge", "lt", "le", "isclose", "signbit",
    ]
)  # fmt: skip
_KEEPING = frozenset(
    [
        "view", "reshape", "squeeze", "unsqueeze", "flatten", "t", "transpose", "permute", "expand", "expand_as",
        "clone", "contiguous", "detach", "cpu", "cuda", "repeat", "tile", "flip", "roll",
    ]
)  # fmt: skip

_COUNTING = frozenset(
    [
        "arange", "argmax", "argmin", "argsort", "bincount", "bucketize", "count_nonzero", "int", "long",
        "multinomial", "nonzero", "randint", "randperm", "searchsorted",
    ]
)  # fmt: skip


def is_whole(key: py.TensorValue) -> bool:
    """Whether a tensor holds whole numbers, by its dtype or by how it was made."""
    if key.dtype:
        return key.dtype != "bool"
    if not isinstance(key, Traced):
        return key.name.rpartition("::")[2] in _COUNTING
    step: Origin | None = key.origin
    while step is not None:
        name = _method(step.node)
        if name in _COUNTING or _is_called(step, _INDEX_WORDS) or _is_given_whole(step.node):
            return True
        is_sum = isinstance(step.node, ast.BinOp) and not isinstance(step.node.op, (ast.BitAnd, ast.BitOr))
        if not (is_sum or isinstance(step.node, ast.Subscript) or _keeps(step.node)):
            return False
        step = step.parent
    return False


def masked_first(op: Operation) -> Shaped:
    """``x[mask, ...]``: as many as the mask lets through, or may let through, where no more is known."""
    key = op.args[1]
    first = key.items[0] if isinstance(key, py.TupleValue) and key.items else None
    if not isinstance(first, Traced):
        return None
    if may_be_mask(op, first):
        return Extent((), Lead(head=(_perhaps_many(first),)))
    return Extent((), Lead(head=(_many(first),))) if is_mask(first) else None


def may_be_mask(op: Operation, key: Traced) -> bool:
    """Whether a tensor may hold truths or indices, as far as the source tells."""
    if key.dtype or is_mask(key) or is_whole(key):
        return False
    extent = extent_of(op.facts, key)
    return extent is None or (extent.rank != 0 and _count_of_data(op, key) is None)


def is_mask(key: py.TensorValue) -> bool:
    """Whether a tensor holds what is true or false."""
    if key.dtype == "bool":
        return True
    step = key.origin if isinstance(key, Traced) else None
    while step is not None:
        node = step.node
        if isinstance(node, ast.Compare) or _is_called(step, _MASK_WORDS):
            return True
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.op, ast.Invert)
        if isinstance(node, ast.BinOp):
            return isinstance(node.op, (ast.BitAnd, ast.BitOr))
        name = _method(node)
        if name in _ASKING or not (isinstance(node, ast.Subscript) or _keeps(node)):
            return name in _ASKING
        step = step.parent
    return False


# What inputs are called that stand in the brackets of others, where nothing else tells what they hold.
_MASK_WORDS = frozenset({"mask", "masks"})
_INDEX_WORDS = frozenset({"idx", "ids", "index", "indexes", "indices", "inds", "perm"})


def _is_called(step: Origin, words: frozenset[str]) -> bool:
    """Whether an input itself has a name with one of these words."""
    return step.node is None and not words.isdisjoint(step.name.lower().split("_"))


def _keeps(node: ast.AST | None) -> bool:
    """Whether a method leaves elements as they are: ``to`` does where it names a device."""
    name = _method(node)
    is_moved = name == "to" and isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords
    given = node.args[0] if is_moved and isinstance(node, ast.Call) else None
    device = (
        given.attr if isinstance(given, ast.Attribute) else given.id if isinstance(given, ast.Name) else ""
    )
    return name in _KEEPING or device == "device"


def _is_given_whole(node: ast.AST | None) -> bool:
    """Whether a call is given a dtype of whole numbers by name."""
    given = node.keywords if isinstance(node, ast.Call) else []
    named = [one.value for one in given if one.arg == "dtype"]
    return any(isinstance(value, ast.Attribute) and value.attr in _WHOLE for value in named)


_WHOLE = frozenset({"int", "int8", "int16", "int32", "int64", "long", "short"})


def _method(node: ast.AST | None) -> str:
    function = node.func if isinstance(node, ast.Call) else None
    return function.attr if isinstance(function, ast.Attribute) else ""
