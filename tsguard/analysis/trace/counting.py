"""Functions that count and compare: len, range, min and max."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tsguard.analysis import values as py
from tsguard.analysis.events import text_of
from tsguard.analysis.export import data, ordering, sizes
from tsguard.analysis.python.iteration import iterate
from tsguard.analysis.trace import attributes, iteration, kinds, shaping, sorting
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.operators import number_of, report_number
from tsguard.analysis.trace.shapes.dims import Dim
from tsguard.analysis.trace.shapes.operation import dim_of
from tsguard.analysis.trace.uses import recorded, used
from tsguard.analysis.trace.values import (
    Fixed,
    InputDict,
    InputList,
    Number,
    Opaque,
    Pieces,
    Shape,
    Traced,
    Untraced,
    frozen,
    frozen_again,
    is_live,
    parts,
    plainly,
)

Args = list[py.Value]
Kwargs = dict[str, py.Value]
Handler = Callable[["Tracer", Args, Kwargs, ast.AST], "py.Value | None"]


def length_of(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """``len``."""
    return length(tracer, args[0], node) if args else None


def length(tracer: Tracer, value: py.Value, node: ast.AST) -> py.Value | None:
    """``len(value)``; None where it is plain Python's."""
    if isinstance(value, Traced):
        iteration.rows_wanted(tracer, value, node)
        if value.of != "inputs":
            return py.Unknown(None, "int")
        extent = shaping.extent(tracer, value)
        known = shaping.known_value(tracer.facts, None if extent is None else extent.at(0))
        if known is not None:
            return known
        number = frozen(value.origin.then(node), "size", "int")
        counted = node.args[0] if isinstance(node, ast.Call) and node.args else node
        number.debt = tracer.debt("size-to-number/len", node, value.origin, value=text_of(counted))
        number.dim = None if extent is None else extent.at(0)
        return number
    if isinstance(value, py.TensorValue):
        recorded(tracer, value)
    if isinstance(value, Shape):
        if value.open and not tracer.is_export and tracer.facts.has_rank_of_sizes(value.extent):
            return attributes.rank_of_sizes(tracer, value.origin.then(node), node)
        known = None if value.open else py.Const(len(value.items))
        return Fixed(None, "int", known, origin=value.origin.then(node), extent=value.extent)
    if isinstance(value, Pieces):
        return frozen(value.origin.then(node), "size", "int", pending=True)
    if isinstance(value, Number):
        return frozen_again(value, node, "int")
    if isinstance(value, py.SetValue) and len(value.items) > 1:
        return _count_of_different(tracer, value, node)
    if isinstance(value, (InputList, InputDict)):
        iteration.structure(tracer, value)
    if isinstance(value, (Opaque, Untraced)):
        return value
    return None


def _count_of_different(tracer: Tracer, value: py.SetValue, node: ast.AST) -> py.Value | None:
    """The length of a set: equal numbers are one, and sizes are tensors while tracing, of which none is another."""
    live = next((item for item in value.items if isinstance(item, Number) and is_live(item)), None)
    if live is None:
        return taken(tracer, value.items, node)
    report_number(tracer, "key", live, node)
    return frozen(live.origin.then(node), live.kind, "int")


def range_of(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """``range``, of which a trace keeps the example's numbers."""
    data.number_wanted(tracer, "data-number/range", args, node)
    sizes.wanted(tracer, "fixed-size/range", args, node)
    kinds.used_as_sizes(tracer, args)
    bounds = [_bound(tracer, bound, node) for bound in args]
    if bounds == args or not bounds:
        return None
    first = bounds[0] if len(bounds) > 1 else py.Const(0)
    return py.RangeValue(
        first, bounds[min(1, len(bounds) - 1)], bounds[2] if len(bounds) > 2 else py.Const(1)
    )


def _bound(tracer: Tracer, bound: py.Value, node: ast.AST) -> py.Value:
    if isinstance(bound, (Number, Traced)) and is_live(bound):
        report_number(tracer, "range", bound, node)
        return frozen(bound.origin, bound.kind if isinstance(bound, Number) else "data", "int")
    used(tracer, [bound], node)
    return plainly(bound)


def extreme(sign: int) -> Handler:
    """``min`` (``sign`` -1) or ``max`` (1)."""

    def run(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
        if "key" in kwargs and args:
            items = iterate(tracer, args[0])[0] if len(args) == 1 else args
            ordering.ordered(tracer, items, kwargs["key"], node)
            if len(items) > 1:
                sorting.compared(
                    tracer, [tracer.call(kwargs["key"], [item], {}, node) for item in items], node
                )
        return _chosen(tracer, args, kwargs, sign, node)

    return run


def _always_first(tracer: Tracer, values: Args, sign: int) -> py.Value | None:
    """The value that is the least of all (``sign`` 1: the greatest) for inputs that are not empty.

    Of equal ones Python takes the first.
    """
    if tracer.serves_others or not all(isinstance(value, (Number, py.Const)) for value in values):
        return None
    dims = [None if (dim := dim_of(value)) is None else tracer.facts.resolved(dim) for value in values]
    for place, (value, dim) in enumerate(zip(values, dims, strict=True)):
        before, after = dims[:place], dims[place + 1 :]
        if dim is None:
            continue
        if all(_lead(dim, d, sign) > 0 for d in before) and all(_lead(dim, d, sign) >= 0 for d in after):
            return value
    return None


def _first_of_known(values: Args, sign: int) -> py.Value | None:
    """The greatest or least of numbers that are the same for every input; None where one is not."""
    known = [value.known if isinstance(value, Number) else value for value in values]
    numbers = [n.value for n in known if isinstance(n, py.Const) and isinstance(n.value, (int, float))]
    if len(numbers) < len(values) or not values:
        return None
    return values[numbers.index(max(numbers) if sign > 0 else min(numbers))]


def _lead(dim: Dim, other: Dim | None, sign: int) -> int:
    """How far a size is at least ahead of another; below 0 where that is not told."""
    if other is None:
        return -1
    least = (dim.plus(other, -1) if sign > 0 else other.plus(dim, -1)).least()
    return -1 if least is None else least


def _chosen(tracer: Tracer, args: Args, kwargs: Kwargs, sign: int, node: ast.AST) -> py.Value | None:
    """``min`` and ``max`` ask for the truth of each comparison."""
    data.extreme(tracer, args, kwargs, node)
    values = iterate(tracer, args[0])[0] if len(args) == 1 else args
    live = [value for value in values if is_live(value)]
    if not live and any(isinstance(value, Number) for value in values) and not _is_open(args):
        return _first_of_known(values, sign) or taken(tracer, args, node)
    if live and len(values) + _is_open(args) > 1:
        first = None if _is_open(args) else _always_first(tracer, values, sign)
        if first is not None:
            return first
        value = next((v for v in live if isinstance(v, Traced)), live[0])
        assert isinstance(value, (Traced, Number))
        if isinstance(value, Number):
            return number_of(tracer, "extreme" if sign < 0 else "largest", value, node, "int")
        report_number(tracer, "extreme", value, node)
        return Traced(origin=value.origin.then(node))
    if live:
        return live[0]
    return taken(tracer, args, node)


def _is_open(args: Args) -> int:
    return int(len(args) == 1 and getattr(args[0], "open", False))


def taken(tracer: Tracer, args: Args, node: ast.AST) -> py.Value | None:
    """A builtin over numbers that Python has already made constants of, or fixed properties."""
    found = next((v for v in parts(args) if isinstance(plainly(v), (Number, Fixed, Untraced, Opaque))), None)
    if isinstance(found, Number):
        return frozen_again(found, node, found.hint)
    if isinstance(found, Fixed):
        return Fixed(
            None,
            found.hint,
            found.default if len(args) == 1 else None,
            origin=found.origin,
            about=found.about,
        )
    return found
