"""What an assignment binds while tracing: names of the module apart, and sizes of which nobody knows how many there are."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.python import assignments
from tsguard.analysis.trace import attributes
from tsguard.analysis.trace.origins import Origin
from tsguard.analysis.trace.values import Number, Shape, Untraced
from tsguard.report.records import replace

if TYPE_CHECKING:
    from tsguard.analysis.trace.context import Tracer
    from tsguard.analysis.values import Scope

_PLAIN = (py.ListValue, py.IteratorValue, py.TupleValue)


def bind(tracer: Tracer, target: ast.expr, value: py.Value, scope: Scope) -> None:
    """Assign, except to a name of a module, which other targets read too."""
    if isinstance(target, ast.Name):
        holder = assignments.holder(target.id, scope)
        if holder is not scope and holder.is_global:
            scope.names[target.id] = Untraced(
                None, origin=Origin("a global", tracer.statement), source="state"
            )
            return
    if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, Shape) and value.open:
        star = next((i for i, part in enumerate(target.elts) if isinstance(part, ast.Starred)), None)
        if star is not None:
            parts = attributes.spread(tracer, value, star, len(target.elts) - star - 1)
            for part, size in zip(target.elts, parts, strict=True):
                assignments.assign(tracer, part, size, scope)
            return
    if isinstance(target, (ast.Tuple, ast.List)):
        value = _each_alike(value, len(target.elts))
    assignments.assign(tracer, target, value, scope)


def _each_alike(value: py.Value, count: int) -> py.Value:
    """``h, w = [int(s) for s in x.shape]``: each of what one turn stands for is such a number."""
    if not isinstance(value, (py.ListValue, py.TupleValue)) or type(value) not in _PLAIN:
        return value
    if not value.open or len(value.items) != 1:
        return value
    number = value.items[0]
    if not isinstance(number, Number):
        return value
    others = [replace(number, dim=None, known=None, tensor=None) for _ in range(count - 1)]
    return py.ListValue([number, *others], open=True)


def unpack_star(tracer: Tracer, target: ast.expr, value: ast.expr, scope: Scope) -> bool:
    """``h, w, device = *x.shape[1:], x.device``: what stands beside the star tells how many it gives."""
    if not (isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)):
        return False
    stars = [i for i, part in enumerate(value.elts) if isinstance(part, ast.Starred)]
    given = len(target.elts) - len(value.elts) + 1
    if len(stars) != 1 or given < 1 or any(isinstance(part, ast.Starred) for part in target.elts):
        return False
    found = [
        tracer.evaluate(part.value if isinstance(part, ast.Starred) else part, scope) for part in value.elts
    ]
    tracer.node = value
    at = stars[0]
    spread = ast.copy_location(ast.Tuple(target.elts[at : at + given], ast.Store()), target)
    parts = [*target.elts[:at], spread, *target.elts[at + given :]]
    for part, item in zip(parts, found, strict=True):
        bind(tracer, part, item, scope)
    return True
