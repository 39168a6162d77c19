"""Functions that split a tensor: the number of pieces that the trace requires."""

from __future__ import annotations

import ast

from tsguard.analysis import values as py
from tsguard.analysis.budgets import ROUNDED_PIECES, TRACED_PIECES
from tsguard.analysis.export import sizes
from tsguard.analysis.trace import shaping
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.operators import tensor
from tsguard.analysis.trace.shapes.dims import number
from tsguard.analysis.trace.shapes.operation import Operation
from tsguard.analysis.trace.uses import used
from tsguard.analysis.trace.values import NOWHERE, Number, Pieces, Traced, is_live, origin_of, plainly

_COUNTED = frozenset({"chunk", "unsafe_chunk", "tensor_split", "hsplit", "vsplit", "dsplit"})
_ROUNDED = frozenset({"chunk", "unsafe_chunk"})
_SPLIT = frozenset({"split", "unsafe_split"})
_TOGETHER = frozenset({"meshgrid", "broadcast_tensors", "atleast_1d", "atleast_2d", "atleast_3d"})
MAKERS = _COUNTED | _SPLIT | _TOGETHER | {"unbind", "split_with_sizes", "nonzero"}


def made(
    tracer: Tracer, name: str, args: list[py.Value], kwargs: dict[str, py.Value], node: ast.AST
) -> py.Value:
    """The tensors that ``name`` makes of its first argument."""
    values = [*args, *kwargs.values()]
    used(tracer, values, node)
    piece = tensor(values, node)
    if name == "nonzero":
        return _indices(tracer, args[0], kwargs, shaping.of_call(tracer, name, args, kwargs, piece))
    if name.startswith("atleast_") and len(args) == 1 and isinstance(args[0], py.TensorValue):
        return piece  # of one tensor it is one
    if name in _TOGETHER:
        given = args[0].items if isinstance(args[0], (py.ListValue, py.TupleValue)) else args
        return py.TupleValue(tuple(piece for _ in given))
    if not isinstance(args[0], Traced) or args[0].of != "inputs":
        return py.ListValue([piece], True)
    if name == "unbind":
        where = args[1] if len(args) > 1 else kwargs.get("dim", py.Const(0))
        _note_count(tracer, args[0], where, node)
        return _counted_by_size(values, piece, node)
    how = (
        args[1]
        if len(args) > 1
        else next((v for k, v in kwargs.items() if k not in ("dim", "axis")), py.NONE)
    )
    along = args[2] if len(args) > 2 else kwargs.get("dim", py.Const(0))
    return _divided(tracer, name, how, [args[0], how, along], piece, node)


def _indices(tracer: Tracer, asked: py.Value, kwargs: dict[str, py.Value], piece: py.Value) -> py.Value:
    """``x.nonzero(as_tuple=True)``: one row of indices for each dimension."""
    if py.constant(kwargs.get("as_tuple", py.FALSE)) is not True:
        return piece
    extent = shaping.extent(tracer, asked) if isinstance(asked, py.TensorValue) else None
    if extent is None or extent.rank is None:
        return py.TupleValue((piece,), True)
    return py.TupleValue((piece,) * extent.rank)


def _divided(
    tracer: Tracer, name: str, how: py.Value, values: list[py.Value], piece: py.TensorValue, node: ast.AST
) -> py.Value:
    if isinstance(how, (py.ListValue, py.TupleValue)):
        extra = name in _COUNTED
        return py.ListValue([piece] * (len(how.items) + extra), how.open)
    if name in _SPLIT:
        if isinstance(how, Number) and is_live(how):
            tracer.report("size-to-number/split", node, how.origin)
            sizes.wanted(tracer, "fixed-size", [how], node)
            return py.ListValue([piece], True)
        if isinstance(how, py.Unknown) and (how.hint in ("list", "tuple") or _is_pinned(tracer, *values)):
            return py.ListValue([piece], True)  # as many as the constructor says
        if isinstance(how, py.Const):
            _note_count(tracer, values[0], values[2], node)
        return _counted_by_size(values, piece, node)
    count = py.constant(plainly(how))
    if isinstance(count, int) and 0 < count <= TRACED_PIECES:
        if name in _ROUNDED and count >= ROUNDED_PIECES and _may_be_fewer(tracer, values, count):
            return _counted_by_size(values, piece, node)
        return py.ListValue([piece] * count)
    if isinstance(how, Number) and how.live:
        return _counted_by_size(values, piece, node)
    return py.ListValue([piece], True)


def _is_pinned(tracer: Tracer, tensor: py.Value, how: py.Value, along: py.Value) -> bool:
    """Whether what is no size of an input divides a dimension that all inputs have alike."""
    index, extent = py.constant(along), shaping.extent(tracer, tensor) if isinstance(tensor, Traced) else None
    dim = extent.at(index) if isinstance(index, int) and extent is not None else None
    return not isinstance(how, Number) and dim is not None and dim.is_constant


def _note_count(tracer: Tracer, tensor: py.Value, along: py.Value, node: ast.AST) -> None:
    """There are as many pieces as a size says."""
    index = py.constant(along)
    extent = shaping.extent(tracer, tensor) if isinstance(tensor, Traced) else None
    if isinstance(tensor, Traced) and isinstance(index, int) and extent is not None:
        sizes.rows_wanted(tracer, tensor, extent.at(index), node)


def _may_be_fewer(tracer: Tracer, values: list[py.Value], count: int) -> bool:
    """Whether some size of an input gives less pieces than are asked for: 9 in 4 are 3 of 3."""
    op = Operation(tracer.facts, values)
    shape, index = op.shape(), op.whole(2, "dim", 0)
    dim = None if shape is None or index is None else shape.at(index)
    if dim is None or tracer.facts.resolved(dim).is_constant or dim.over(number(count)) is not None:
        return False
    return not any(symbol.is_found for symbol in dim.inner_symbols())


def _counted_by_size(values: list[py.Value], piece: py.TensorValue, node: ast.AST) -> py.Value:
    origin = origin_of(values)
    return Pieces([piece], True, origin=NOWHERE if origin is None else origin.then(node))
