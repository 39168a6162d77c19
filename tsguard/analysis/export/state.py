"""Buffers that a forward assigns: an exported program writes the new values into the old buffers."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.export.reports import is_reached, report
from tsguard.analysis.trace import shaping
from tsguard.analysis.trace.shapes.dims import number
from tsguard.analysis.trace.values import Traced

if TYPE_CHECKING:
    from tsguard.analysis.trace.context import Tracer


def kept(tracer: Tracer, module: py.ModuleValue, value: py.Value, name: str) -> None:
    """A buffer of the target is assigned: an input or another buffer, as it is, cannot be written into it."""
    if name not in module.buffers or module is not tracer.frames[0].receiver:
        return
    tracer.exports.assigned.pop(name, None)
    if not isinstance(value, Traced) or value.origin.node is not None or value.role == "parameter":
        return
    if value.of not in ("inputs", "state"):
        return
    event = tracer.event("assigned-input", tracer.node, name=f"self.{name}")
    if event is not None:
        tracer.exports.assigned[name] = event, is_reached(tracer)


def assigned(tracer: Tracer, before: py.Value | None, value: py.Value, name: str) -> None:
    """A buffer without elements is given what has some, or one with some is given more, which does not go into it.

    An empty one is there to be filled: of the condition that it is so, the example has that side.
    """
    if not isinstance(before, py.TensorValue) or isinstance(before, Traced) or not isinstance(value, Traced):
        return
    if before.sizes is not None and 0 in before.sizes:
        report(tracer, "held-value/buffer", tracer.node, sure=True, name=f"self.{name}")
    elif _grows(tracer, before, value):
        report(tracer, "held-value/grown", tracer.node, name=f"self.{name}")


def _grows(tracer: Tracer, before: py.TensorValue, value: Traced) -> bool:
    """Whether a dimension is larger than it was, whatever the inputs."""
    extent = shaping.extent(tracer, value)
    if before.sizes is None or extent is None or extent.rank != len(before.sizes):
        return False
    pairs = zip(before.sizes, extent.dims, strict=True)
    return any(
        size is not None and dim is not None and (dim.plus(number(size), -1).least() or 0) > 0
        for size, dim in pairs
    )


def registered(tracer: Tracer, module: py.ModuleValue, name: py.Value, node: ast.AST | None) -> None:
    """A buffer is registered by the forward: the program takes one that was not there for another tensor."""
    tracer.exports.assigned.pop(str(py.constant(name)), None)
    if isinstance(name, py.Const) and name.value not in module.buffers:
        report(tracer, "held-value/registered", node, name=f'"{name.value}"')
