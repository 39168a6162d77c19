"""``tensor[key] = value`` while tracing: a value of another shape is stretched, or viewed, by sizes of the example.

Source: ``copy_to`` in torch/csrc/autograd/python_variable_indexing.cpp views and expands a value of another shape
by sizes that the trace does not follow.  Where a key is a tensor or a list, the operator stretches the value itself,
but for dimensions of size 1 that come first: those are dropped by a view (``dispatch_set_item`` there).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tsguard.analysis import values as py
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.origins import Origin
from tsguard.analysis.trace.shapes.dims import ONE, Dim
from tsguard.analysis.trace.shapes.extents import Extent, dimension
from tsguard.analysis.trace.shapes.indexing import is_whole_slice, taken
from tsguard.analysis.trace.shapes.operation import Operation, extent_of
from tsguard.analysis.trace.values import origin_of
from tsguard.language.rule_names import RuleName


def assigned(
    tracer: Tracer, owner: py.TensorValue, key: py.Value, value: py.Value, node: ast.AST | None
) -> None:
    """Report an assignment that gives a tensor of known shape sizes that other inputs have otherwise."""
    if not isinstance(value, py.TensorValue):
        return
    given = extent_of(tracer.facts, value)
    if given is None:
        return
    if not _is_plain(tracer, key):
        whole = extent_of(tracer.facts, owner) if _begins_whole(key) else None
        _settle(tracer, "frozen-argument/viewed", _viewed(given, whole), origin_of([value]), node)
        return
    place = taken(Operation(tracer.facts, [owner, key]))
    if isinstance(place, Extent):
        kept = _kept(given, place)
        _settle(tracer, "frozen-argument/assigned", kept, origin_of([owner, value]), node)


def _settle(
    tracer: Tracer, rule: RuleName, kept: Iterable[Dim | None], origin: Origin | None, node: ast.AST | None
) -> None:
    varied = [dim for dim in kept if dim is not None and not dim.is_constant]
    debt = tracer.debt(rule, node, origin) if varied and origin is not None else None
    for dim in varied if debt is not None else ():
        assert debt is not None
        tracer.settle(debt, dim)


def _is_plain(tracer: Tracer, key: py.Value) -> bool:
    """Whether a key is made of numbers, slices, ``...`` and None, with which torch takes a view."""
    if isinstance(key, py.TupleValue):
        return not key.open and all(_is_plain(tracer, item) for item in key.items)
    if isinstance(key, py.TensorValue):
        extent = extent_of(tracer.facts, key)
        return extent is not None and extent.rank == 0
    return not isinstance(key, py.ListValue) and not isinstance(py.constant(key), bool)


def _begins_whole(key: py.Value) -> bool:
    """Whether a key leaves the first dimension as it is."""
    first = key.items[0] if isinstance(key, py.TupleValue) and key.items else key
    return is_whole_slice(first)


def _viewed(given: Extent, whole: Extent | None) -> Iterable[Dim | None]:
    """The sizes that the trace keeps as it drops a first dimension of size 1: those behind it, or none.

    ``whole`` is the tensor whose first dimension the value's has to fit, if both have as many.
    """
    fits = whole is not None and whole.at(0) == ONE and (given.rank is None or given.rank == whole.rank)
    if given.at(0) != ONE and not fits:
        return ()
    if given.lead is None:
        return given.dims[1:]
    return [given.at(1) if given.lead.tensor is None else dimension(given.lead.tensor, 1)]


def _kept(given: Extent, place: Extent) -> list[Dim | None]:
    """The sizes that the trace keeps: those of both sides where the value has to be stretched, or none."""
    if given.rank is None:
        return _kept_of_any_rank(given, place)
    if not given.rank:
        return []
    count = min(given.rank, len(place.dims))
    pairs = list(zip(given.last(count), place.last(count), strict=True))
    is_shorter = given.rank < len(place.dims)
    is_longer = place.rank is not None and given.rank > place.rank
    is_same_rank = place.rank is not None and given.rank == place.rank
    is_one = any(one == ONE and dim is not None and dim != ONE for one, dim in pairs)
    if is_shorter or is_longer or (is_same_rank and is_one):
        return [*given.dims, *place.dims]
    if place.rank is None and given.dims and all(dim is not None and dim.is_constant for dim in given.dims):
        return [place.first if _whole_first(place) else None]  # which no constant is, or it is stretched
    return []


def _kept_of_any_rank(given: Extent, place: Extent) -> list[Dim | None]:
    """The same where neither rank is known: a row of a tensor, for all of one that has its dimensions."""
    tensor = None if place.lead is None or place.dims else place.lead.tensor
    if tensor is None or given.lead is None or (place.lead is not None and place.lead.dropped):
        return []
    is_row = given.lead.head[:2] == (dimension(tensor, 1), dimension(tensor, 2))
    return [dimension(tensor, 0)] if is_row else []


def _whole_first(place: Extent) -> bool:
    """Whether the first dimension of a part is that of the whole."""
    tensor = None if place.lead is None else place.lead.tensor
    symbol = next(place.first.symbols(), None) if place.first is not None and place.first.is_bare else None
    return tensor is not None or (symbol is not None and symbol.parts[1:] == (0,))
