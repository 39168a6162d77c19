"""Iteration over traced values, which the trace unrolls for the example."""

from __future__ import annotations

import ast

from tsguard.analysis import values as py
from tsguard.analysis.budgets import TRACED_ROWS
from tsguard.analysis.export import data, reports, sizes
from tsguard.analysis.python.context import Raised
from tsguard.analysis.trace import attributes, shaping
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.rulebook import FIXED, VARIED
from tsguard.analysis.trace.shapes.extents import Extent
from tsguard.analysis.trace.uses import recorded
from tsguard.analysis.trace.values import (
    Derived,
    Held,
    InputDict,
    InputList,
    Number,
    Opaque,
    Pieces,
    Shape,
    Traced,
    Untraced,
    frozen_again,
)

Items = tuple[list[py.Value], bool]


def items(tracer: Tracer, value: py.Value, wanted: int | None) -> Items | None:
    """The items of a traced value and whether there may be others; None for any other value.

    ``wanted`` is how many an unpacking assignment takes.

    Raises:
        Raised: the value is None.
    """
    if py.is_none(value):
        raise Raised("TypeError", tracer.node)
    if isinstance(value, Traced):
        return _rows(tracer, value, wanted)
    if isinstance(value, py.TensorValue):
        recorded(tracer, value)
        several = data.lends_no_value(value)
        return [py.TensorValue(several=several) for _ in range(wanted or 1)], wanted is None
    if isinstance(value, Shape):
        return _sizes(tracer, value, wanted)
    if isinstance(value, Pieces):
        if wanted is None:
            tracer.report("pieces-count", tracer.node, value.origin)
        return _repeated(value.items, wanted)
    if isinstance(value, (InputList, InputDict)):
        structure(tracer, value)
        return None
    if isinstance(value, (py.ListValue, py.TupleValue)) and value.open and wanted is not None and value.items:
        is_short = len(value.items) < wanted and isinstance(value.items[-1], py.TensorValue)
        return _repeated(list(value.items), wanted) if is_short else None
    if isinstance(value, Held):
        return [Held()] * (wanted or 1), wanted is None
    if isinstance(value, (Opaque, Untraced, Number)):
        return [_part(value)] * (wanted or 1), wanted is None
    return None


def structure(tracer: Tracer, value: InputList | InputDict) -> None:
    """Report that the length or the keys of an input are those of the example."""
    rules = VARIED if tracer.varies(value.origin, "structure") else FIXED
    tracer.report(rules["structure"], tracer.node, value.origin)


def rows_wanted(tracer: Tracer, value: Traced, node: ast.AST | None) -> None:
    """Python wants to know how many rows a tensor has."""
    extent, dim = shaping.extent(tracer, value), shaping.size_along(tracer, value, 0)
    if dim is not None:
        reports.report_backed(tracer, dim.unbacked, "data-number/rows", node, value.origin)
    sizes.rows_wanted(tracer, value, None if extent is None else extent.first, node)


def _rows(tracer: Tracer, value: Traced, wanted: int | None) -> Items:
    if wanted is None:
        rows_wanted(tracer, value, tracer.node)
    extent = shaping.extent(tracer, value)
    count = tracer.facts.number(None if extent is None else extent.at(0))
    if wanted is None and value.of == "inputs" and count is not None and count <= TRACED_ROWS:
        tracer.report("harmless-warning/rows", tracer.node, value.origin)
        wanted = count
    elif value.of != "inputs" or wanted is not None:
        tracer.report("harmless-warning/rows", tracer.node, value.origin)
    else:
        tracer.report("size-loop-count/rows", tracer.node, value.origin)
    row = Traced(
        origin=value.origin.then(tracer.node), of=value.of, extent=_of_row(extent), recorded=value.recorded
    )
    return [row] * (wanted or 1), wanted is None


def _of_row(extent: Extent | None) -> Extent | None:
    return None if extent is None or extent.lead is not None else extent.replaced(0)


def _sizes(tracer: Tracer, value: Shape, wanted: int | None) -> Items:
    """The sizes; who unpacks so many takes only tensors of that rank."""
    if not value.open:
        return list(value.items), False
    if wanted is None:
        return list(value.items), True
    extent, start = (value.extent, 0) if value.rest is None else value.rest
    if extent is None:
        return [attributes.size_at(tracer, None, None, value.origin) for _ in range(wanted)], False
    if shaping.learns(tracer):
        extent = tracer.facts.takes_rank(extent, start + wanted)
    indexes = range(start, start + wanted)
    return [attributes.size_at(tracer, extent, index, value.origin) for index in indexes], False


def _repeated(known: list[py.Value], wanted: int | None) -> Items:
    if wanted is None:
        return known, True
    return [*known, *[known[-1]] * wanted][:wanted], False


def _part(value: Derived) -> py.Value:
    if isinstance(value, Number):
        return frozen_again(value, None)
    return type(value)(None, origin=value.origin)
