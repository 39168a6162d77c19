"""Iterating traced values: what the trace unrolls for the example."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.trace.rulebook import FIXED, VARIED
from tsguard.analysis.trace.values import (
    Derived,
    InputDict,
    InputList,
    Number,
    Opaque,
    Pieces,
    Shape,
    Traced,
    Untraced,
)

if TYPE_CHECKING:
    from tsguard.analysis.trace.tracer import Tracer

Items = tuple[list[py.Value], bool]


def items(tracer: Tracer, value: py.Value, wanted: int | None) -> Items | None:
    """The items of a traced value and whether there may be others; None for any other value.

    ``wanted`` is how many an unpacking assignment takes.
    """
    if isinstance(value, Traced):
        return _rows(tracer, value, wanted)
    if isinstance(value, py.TensorValue):
        return [py.TensorValue() for _ in range(wanted or 1)], wanted is None
    if isinstance(value, Shape):
        return _sizes(value, wanted)
    if isinstance(value, Pieces):
        if wanted is None:
            tracer.report("pieces-count", tracer.node, value.origin)
        return _repeated(value.items, wanted)
    if isinstance(value, (InputList, InputDict)):
        structure(tracer, value)
        return None
    if isinstance(value, (Opaque, Untraced, Number)):
        return [_part(value)] * (wanted or 1), wanted is None
    return None


def structure(tracer: Tracer, value: InputList | InputDict) -> None:
    """Report that the length or the keys of an input are those of the example."""
    rules = VARIED if tracer.varies(value.origin, "structure") else FIXED
    tracer.report(rules["structure"], tracer.node, value.origin)


def _rows(tracer: Tracer, value: Traced, wanted: int | None) -> Items:
    if value.of != "inputs" or wanted is not None:
        tracer.report("harmless-warning/rows", tracer.node, value.origin)
    else:
        tracer.report("size-loop-count/rows", tracer.node, value.origin)
    row = Traced(origin=value.origin.then(tracer.node), of=value.of)
    return [row] * (wanted or 1), wanted is None


def _sizes(value: Shape, wanted: int | None) -> Items:
    if not value.open:
        return list(value.items), False
    return _repeated(list(value.items), wanted)


def _repeated(known: list[py.Value], wanted: int | None) -> Items:
    if wanted is None:
        return known, True
    return [*known, *[known[-1]] * wanted][:wanted], False


def _part(value: Derived) -> py.Value:
    if isinstance(value, Number):
        return Number("", origin=value.origin, kind=value.kind, live=False, pending=value.pending)
    return type(value)("", origin=value.origin)
