"""Fixes of calls that leave out arguments which TorchScript has no default for."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.annotations import annotate_omitted, welcome_none
from tsguard.fixes.calls import without_keyword
from tsguard.fixes.composing import composed, safe
from tsguard.fixes.edits import between
from tsguard.fixes.imports import is_of_torch
from tsguard.fixes.lazily import cst
from tsguard.fixes.pieces import changed_expression, rewritten
from tsguard.fixes.places import nodes_around, nodes_at
from tsguard.report import Applicability, Fix

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


def pass_order(event: Event) -> Fix | None:
    """``x.norm(dim=1)`` becomes ``x.norm(dim=1, p=2)``, which is what "fro", Python's default, stands for."""
    call = next(nodes_at(event.module.file, event.span, ast.Call), None)
    is_norm = call is not None and isinstance(call.func, ast.Attribute) and call.func.attr == "norm"
    return _passed(event, "2") if is_norm and event.facts["argument"] == "p" else None


def pass_default(event: Event) -> Fix | None:
    """``self.forward(x)`` becomes ``self.forward(x, scale=2)`` where 2 is the default of ``scale``."""
    default = event.facts.get("default")
    return _passed(event, default) if default else None


def pass_by_position(event: Event) -> Fix | None:
    """``blend(x, weight=0.5, y=y)`` becomes ``blend(x, y, 0.5)``."""
    file, order = event.module.file, event.facts["order"].split()
    call = next(nodes_at(file, event.span, ast.Call), None)
    if call is None or any(keyword.arg is None for keyword in call.keywords):
        return None
    order = order[len(call.args) :]
    if {keyword.arg for keyword in call.keywords} != set(order):
        return None

    def placed(expression: cst.BaseExpression) -> cst.CSTNode | None:
        if not isinstance(expression, cst.Call):
            return None
        by_name = {arg.keyword.value: arg for arg in expression.args if arg.keyword is not None}
        first = [arg for arg in expression.args if arg.keyword is None]
        rest = [cst.Arg(by_name[name].value) for name in order]
        return expression.with_changes(args=[*first, *rest])

    # What is computed is computed in another order.
    values = [keyword.value for keyword in call.keywords]
    is_kept = [keyword.arg for keyword in call.keywords] == order
    has_effects = any(isinstance(n, ast.Call) for value in values for n in ast.walk(value))
    kind: Applicability = "unsafe" if has_effects and not is_kept else "safe"
    return composed(kind, "Pass the arguments by position", changed_expression(file, call, placed))


def _passed(event: Event, value: str) -> Fix | None:
    file, name = event.module.file, event.facts["argument"]
    call = next(nodes_at(file, event.span, ast.Call), None)
    if call is None or any(keyword.arg is None for keyword in call.keywords):
        return None

    def given(expression: cst.BaseExpression) -> cst.CSTNode | None:
        if not isinstance(expression, cst.Call):
            return None
        equal = cst.AssignEqual(
            whitespace_before=cst.SimpleWhitespace(""), whitespace_after=cst.SimpleWhitespace("")
        )
        added = cst.Arg(cst.parse_expression(value), keyword=cst.Name(name), equal=equal)
        return expression.with_changes(args=[*expression.args, added])

    return safe(f"Pass {name}={value}", changed_expression(file, call, given))


def leave_none_out(event: Event) -> Fix | None:
    """``params.get("bias", None)`` becomes ``params.get("bias")``; a parameter that is given None is annotated so."""
    file = event.module.file
    if event.facts.get("argument") != "default_value":
        return _without_none(event) or annotate_omitted(event) or welcome_none(event)
    for call in nodes_around(file, event.span.line):
        if not isinstance(call, ast.Call) or ast.unparse(call.func) != event.facts["function"]:
            continue
        if len(call.args) == 2 and isinstance(call.args[1], ast.Constant) and call.args[1].value is None:
            key = between(file, file.span(call.args[0]))
            change = rewritten(file, call, f"{between(file, file.span(call.func))}({key})")
            return safe("Leave None out", change)
    return None


def _without_none(event: Event) -> Fix | None:
    """``F.avg_pool2d(x, 2, stride=None)`` becomes ``F.avg_pool2d(x, 2)``: Python takes None where it is the default."""
    file, name = event.module.file, event.facts.get("argument", "")
    if not is_of_torch(event.module, event.facts.get("function", "")):
        return None
    for call in nodes_at(file, event.span, ast.Call):
        nones = [k for k in call.keywords if k.arg == name and isinstance(k.value, ast.Constant)]
        if len(nones) == 1 and isinstance(nones[0].value, ast.Constant) and nones[0].value.value is None:
            change = changed_expression(file, call, lambda e: without_keyword(e, name))
            return safe(f"Leave {name}=None out", change)
    return None
