"""What an input without an annotation is, as its use tells: a number that sizes are made of, a function, an object.

A tensor without dimensions may stand for a size, too; who calls a parameter ``H`` and views ``x`` by it
means the number that ``x.shape`` gives outside of a trace.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tsguard.analysis import values as py
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.values import Traced, parts
from tsguard.language.rule_names import RuleName

_NUMBER: RuleName = "untraceable-input/scalar"
_OBJECT: RuleName = "untraceable-input/object"
_ARITHMETIC = (ast.BinOp, ast.UnaryOp, ast.Name)


def used_as_sizes(tracer: Tracer, values: Iterable[py.Value]) -> None:
    """Note the inputs that an operation takes for sizes, as they are or after some arithmetic."""
    if not tracer.untold:
        return
    for value in parts(values):
        if isinstance(value, Traced):
            name = _calculated_from(value)
            if name in tracer.untold:
                tracer.told.setdefault(name, _NUMBER)


def used_as_object(tracer: Tracer, value: Traced) -> None:
    """Note an input that is called, or asked for what no tensor has."""
    if value.origin.parent is None and value.origin.name in tracer.untold:
        tracer.told.setdefault(value.origin.name, _OBJECT)


def _calculated_from(value: Traced) -> str:
    """The input that a value is, or is a sum or product of; "" where more has happened to it."""
    origin = value.origin
    while origin.parent is not None:
        if not isinstance(origin.node, _ARITHMETIC):
            return ""
        origin = origin.parent
    return origin.name if value.of == "inputs" else ""


def report(tracer: Tracer) -> None:
    """Report the inputs that cannot be tensors."""
    for name, rule in tracer.told.items():
        tracer.report(rule, tracer.untold[name], name=name)
