"""Values that are wrong in the trace as soon as something depends on them."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tsguard.analysis import values as py
from tsguard.analysis.trace import captured
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.rulebook import UNTRACED, VARIED, asked, checked
from tsguard.analysis.trace.values import Fixed, Number, Pieces, Shape, Untraced, parts


def used(tracer: Tracer, values: Iterable[py.Value], node: ast.AST | None) -> None:
    """Report what the computation takes and no trace can follow."""
    for value in parts(values):
        if isinstance(value, py.Const):
            continue
        captured.computed_with(tracer, value)
        if isinstance(value, py.TensorValue):
            recorded(tracer, value)
        elif isinstance(value, Number):
            if value.pending or value.debt is not None:
                _called_in(tracer, value, node)
        elif isinstance(value, Untraced):
            tracer.report(UNTRACED[value.source], value.origin.node or node, value.origin)
        elif isinstance(value, Shape):
            if value.open and not tracer.is_export and tracer.facts.has_rank_of_sizes(value.extent):
                tracer.report("size-to-number/rank", value.origin.node or node, value.origin)
        elif isinstance(value, Pieces):
            tracer.report("pieces-count", node, value.origin)
        elif isinstance(value, Fixed) and value.about == "tracing":
            tracer.report("tracing-condition", node)
        elif isinstance(value, Fixed) and tracer.varies(value.origin, value.about):
            tracer.report(VARIED[value.about], node, value.origin)


def recorded(tracer: Tracer, tensor: py.TensorValue) -> None:
    """An operation takes a tensor; one made before the forward is a constant of the graph from there on."""
    if tensor.outside:
        tracer.state.used.add(id(tensor))


def lost_sight(tracer: Tracer, values: Iterable[py.Value]) -> None:
    """Report what numbers owe that go where they are followed no further."""
    for value in parts(values):
        if isinstance(value, Number) and value.debt is not None:
            _called_in(tracer, value, None)


def _called_in(tracer: Tracer, value: Number, node: ast.AST | None) -> None:
    """Report what a number owes; a check that is lost makes nothing wrong."""
    if tracer.check is not None:
        tracer.report(checked(value, serves_others=tracer.serves_others), tracer.check, value.origin)
    elif value.debt is not None:
        tracer.settle(value.debt, None if value.mixed else value.dim)
    else:
        tracer.report(asked(value, "silent"), value.origin.node or node, value.origin)
