"""Copies of tensors that the tracer does not follow: it keeps what they hold as constants."""

from __future__ import annotations

import ast

from tsguard.analysis import values as py
from tsguard.analysis.export import reports, sizes
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.counting import Args, Handler, Kwargs
from tsguard.analysis.trace.values import Number, Traced, is_live, parts


def _copied(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """A copy of a tensor is new data that the trace knows nothing of."""
    value = args[0] if args else py.NONE
    sizes.wanted(tracer, "lost-size/copy", args[:1], node)
    if isinstance(value, (py.TensorValue, py.ModuleValue)):
        reports.report(
            tracer, "outside-torch/copy", node, value.origin if isinstance(value, Traced) else None
        )
    if isinstance(value, Traced) and value.of == "inputs":
        tracer.report("detached-data/copy", node, value.origin)
        return value
    live = next((part for part in parts([value]) if part is not value and is_live(part)), None)
    if isinstance(live, Number) or (isinstance(live, Traced) and live.of == "inputs"):
        tracer.report("detached-data/copy", node, live.origin)
    return None


def _copied_alone(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """A shallow copy of anything but a tensor holds what it held."""
    return _copied(tracer, args, kwargs, node) if args and isinstance(args[0], py.TensorValue) else None


HANDLERS: dict[str, Handler] = {"copy.copy": _copied_alone, "copy.deepcopy": _copied}
