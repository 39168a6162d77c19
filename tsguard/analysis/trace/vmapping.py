"""``torch.vmap``: a function of one row, called with all rows."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tsguard.analysis import values as py
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.values import Traced

Args = list[py.Value]
Kwargs = dict[str, py.Value]
Handler = Callable[["Tracer", Args, Kwargs, ast.AST], "py.Value | None"]


def _mapped(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """``torch.vmap(function)``: a function of all rows."""
    return py.Partial(py.External(_OVER_ROWS), tuple(args[:1]), {}) if args else None


_OVER_ROWS = "torch.vmap()"


def _over_rows(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """What a function of one row gives for all: torch.export follows it, a trace may keep the example's sizes."""
    tracer.gap(node, "the source does not tell which sizes in torch.vmap a trace keeps")
    tracer.exports.harmless.add(tracer.gaps[-1].key)
    given = {name: _row(value, node) for name, value in kwargs.items()}
    return _rows(tracer.call(args[0], [_row(value, node) for value in args[1:]], given, node))


def _row(value: py.Value, node: ast.AST) -> py.Value:
    """One row of a tensor, of any shape."""
    if not isinstance(value, Traced):
        return value
    return Traced(origin=value.origin.then(node), of=value.of, dtype=value.dtype)


def _rows(value: py.Value) -> py.Value:
    """What one row gives, as all rows do together."""
    if isinstance(value, py.TupleValue):
        return py.TupleValue(tuple([_rows(item) for item in value.items]))
    return Traced(origin=value.origin, of=value.of, dtype=value.dtype) if isinstance(value, Traced) else value


HANDLERS: dict[str, Handler] = {
    "torch.vmap": _mapped,
    "torch.func.vmap": _mapped,
    _OVER_ROWS: _over_rows,
}
