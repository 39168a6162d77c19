"""Fixes of calls of torch.jit: arguments that are gone."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.composing import safe
from tsguard.fixes.edits import between
from tsguard.fixes.lazily import cst
from tsguard.fixes.pieces import changed_expression
from tsguard.fixes.places import nodes_around, nodes_at
from tsguard.report import Fix

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


def drop_optimize(event: Event) -> Fix | None:
    """``torch.jit.script(f, optimize=True)`` becomes ``torch.jit.script(f)``."""
    file = event.module.file
    values = list(nodes_at(file, event.span, ast.Constant))
    calls = [node for node in nodes_around(file, event.span.line) if isinstance(node, ast.Call)]
    call = next((c for c in calls for k in c.keywords if k.arg == "optimize" and k.value in values), None)
    # A comment may be about the argument that goes.
    if call is None or "#" in between(file, file.span(call)):
        return None
    edit = changed_expression(file, call, lambda e: without_keyword(e, "optimize"))
    return safe("Remove optimize", edit)


def without_keyword(expression: cst.BaseExpression, name: str) -> cst.CSTNode | None:
    """A call without one of its keywords."""
    if not isinstance(expression, cst.Call):
        return None
    kept = [arg for arg in expression.args if arg.keyword is None or arg.keyword.value != name]
    if kept and kept[-1] is not expression.args[-1]:
        kept[-1] = kept[-1].with_changes(comma=expression.args[-1].comma)
    return expression.with_changes(args=kept)


def mark_unused(event: Event) -> Fix | None:
    """``@torch.jit.ignore(drop=True)`` becomes ``@torch.jit.unused``."""
    node = next(nodes_at(event.module.file, event.span, ast.Call), None)
    edit = changed_expression(event.module.file, node, _unused) if node is not None else None
    return safe("Use torch.jit.unused", edit)


def _unused(expression: cst.BaseExpression) -> cst.CSTNode | None:
    if not isinstance(expression, cst.Call) or not isinstance(expression.func, cst.Attribute):
        return None
    return expression.func.with_changes(attr=cst.Name("unused"))
