"""``tensor[key] = value`` while tracing: a value that has to be stretched is stretched to the sizes of the example.

Source: ``copy_to`` in torch/csrc/autograd/python_variable_indexing.cpp views and expands a value of another shape
by sizes that the trace does not follow.  Where a key is a tensor or a list, the operator stretches the value itself.
"""

from __future__ import annotations

import ast

from tsguard.analysis import values as py
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.shapes.dims import ONE, Dim
from tsguard.analysis.trace.shapes.extents import Extent
from tsguard.analysis.trace.shapes.indexing import taken
from tsguard.analysis.trace.shapes.operation import Operation, extent_of
from tsguard.analysis.trace.values import Number, is_live, origin_of


def assigned(
    tracer: Tracer, owner: py.TensorValue, key: py.Value, value: py.Value, node: ast.AST | None
) -> None:
    """Report an assignment that stretches a tensor of known shape to sizes that other inputs have otherwise."""
    if not isinstance(value, py.TensorValue) or not _is_plain(key):
        return
    given, place = (
        extent_of(tracer.facts, value),
        taken(Operation(tracer.facts, [owner, key])),
    )
    if given is None or not isinstance(place, Extent):
        return
    kept = _kept(given, place)
    varied = [dim for dim in kept if dim is not None and not dim.is_constant]
    origin = origin_of([owner, value])
    if not varied or origin is None:
        return
    debt = tracer.debt("frozen-argument/assigned", node, origin)
    for dim in varied if debt is not None else ():
        assert debt is not None
        tracer.settle(debt, dim)


def _is_plain(key: py.Value) -> bool:
    """Whether a key is made of numbers, slices, ``...`` and None, with which torch takes a view."""
    if isinstance(key, py.TupleValue):
        return not key.open and all(map(_is_plain, key.items))
    if isinstance(key, Number) and is_live(key):
        return False
    return not isinstance(key, (py.TensorValue, py.ListValue)) and not isinstance(py.constant(key), bool)


def _kept(given: Extent, place: Extent) -> list[Dim | None]:
    """The sizes that the trace keeps: those of both sides where the value has to be stretched, or none."""
    if given.rank is None or not given.rank:
        return []
    count = min(given.rank, len(place.dims))
    pairs = list(zip(given.last(count), place.last(count), strict=True))
    is_shorter = given.rank < len(place.dims)
    is_longer = place.rank is not None and given.rank > place.rank
    is_same_rank = place.rank is not None and given.rank == place.rank
    is_one = any(one == ONE and dim is not None and dim != ONE for one, dim in pairs)
    if is_shorter or is_longer or (is_same_rank and is_one):
        return [*given.dims, *place.dims]
    return []
