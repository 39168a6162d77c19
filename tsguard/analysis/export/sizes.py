"""Open dimensions: what Python asks of a symbolic batch that makes torch.export hold it at the example's size.

A size stays a symbol through arithmetic, comparisons (which bound it) and ``math.floor``; it is held where
Python needs an int of its own: ``int()``, ``len()``, ``range()``, a loop over rows, a number of repetitions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.export.reports import report
from tsguard.analysis.trace.shapes.dims import Dim
from tsguard.analysis.trace.values import Number, Traced, parts
from tsguard.language.rule_names import RuleName
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.trace.context import Tracer
    from tsguard.analysis.trace.origins import Origin


# Methods that give a number of which the first size is a factor.
_COUNTS = ("numel", "nelement")


def decided(tracer: Tracer, value: Number, node: ast.AST | None) -> None:
    """A branch asks whether a size is one number, or a multiple of one: the program has the example's side."""
    equations = (*value.tells.if_true, *value.tells.if_false)
    sides = [[tracer.facts.resolved(dim) for dim in equation] for equation in equations]
    meets = any(_holds_batch(a) and (b.number or 0) > 1 for a, b in sides)
    parts_of = walked(node) if node is not None else ()
    divides = any(isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod) for part in parts_of)
    if meets or (divides and _rests_on_first(value.origin)):
        report(tracer, "fixed-size/condition", node, value.origin)


def wanted(tracer: Tracer, rule: RuleName, values: Iterable[py.Value], node: ast.AST | None) -> None:
    """Python needs the int that a size is."""
    for value in parts(values):
        if isinstance(value, Number) and _is_open(value) and _is_batch(tracer, value):
            report(tracer, rule, node, value.origin)
            return


def rows_wanted(tracer: Tracer, tensor: Traced, dim: Dim | None, node: ast.AST | None) -> None:
    """Python needs to know how many rows a tensor has, which is ``dim``."""
    if tensor.of == "inputs" and dim is not None and _holds_batch(tracer.facts.resolved(dim)):
        report(tracer, "fixed-size/rows", node, tensor.origin)


def stepped_over(tracer: Tracer, tensor: py.Value, dim: Dim | None, node: ast.AST | None) -> None:
    """A recurrent layer goes over a dimension step by step."""
    if not isinstance(tensor, Traced) or tensor.of != "inputs" or dim is None:
        return
    if _holds_batch(tracer.facts.resolved(dim)):
        report(tracer, "fixed-size/steps", node, tensor.origin)


def element_wanted(tracer: Tracer, tensor: Traced, node: ast.AST | None) -> None:
    """Python needs the element of a tensor that is made of a size."""
    if _rests_on_first(tensor.origin):
        report(tracer, "lost-size/element", node, tensor.origin)


def _is_open(value: Number) -> bool:
    return value.kind == "size" and value.live and value.known is None


def _is_batch(tracer: Tracer, value: Number) -> bool:
    """Whether a size rests on the first dimension of an input."""
    if value.dim is not None:
        return _holds_batch(tracer.facts.resolved(value.dim))
    return _rests_on_first(value.origin)


def _rests_on_first(origin: Origin) -> bool:
    step: Origin | None = origin
    while step is not None:
        if _takes_first(step.node):
            return True
        step = step.parent
    return False


def _holds_batch(dim: Dim) -> bool:
    return any(symbol.kind == "input" and symbol.parts[1:] == (0,) for symbol in dim.inner_symbols())


def _takes_first(node: ast.AST | None) -> bool:
    """``x.shape[0]``, ``x.size(0)``, and ``x.numel()``, of which that is a factor."""
    if isinstance(node, ast.Subscript):
        is_shape = isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
        return is_shape and isinstance(node.slice, ast.Constant) and node.slice.value == 0
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _COUNTS:
        return True
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "size":
        return len(node.args) == 1 and isinstance(node.args[0], ast.Constant) and node.args[0].value == 0
    return False
