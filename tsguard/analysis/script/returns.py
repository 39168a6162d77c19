"""``return``: what is returned, against the declared type or what was returned before."""

from __future__ import annotations

import ast

from tsguard.analysis.events import text_of
from tsguard.analysis.script import differences, empties, results, spelled_out
from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.refusals import Refusal, not_refined
from tsguard.analysis.script.sugared import Value
from tsguard.language import types as t
from tsguard.language.matching import converted
from tsguard.language.relations import is_subtype, unify


def emit_return(fc: FunctionCompiler, node: ast.stmt) -> None:
    """Emit a return; the block ends there, whatever is wrong with it."""
    assert isinstance(node, ast.Return)
    try:
        _emit_return(fc, node)
    finally:
        fc.frame.exits = True


def _emit_return(fc: FunctionCompiler, node: ast.Return) -> None:
    value = Value(t.NONE) if node.value is None else fc.expression(node.value, fc.declared)
    differences.returned(fc, value, node.value or node)
    results.returned(fc, value)
    if fc.declared is not None:
        _check_declared(fc, node, value, fc.declared)
        return
    fc.merged = value.type if fc.merged is None else merged_return(fc, fc.merged, value.type, node)


def _check_declared(fc: FunctionCompiler, node: ast.Return, value: Value, declared: t.Type) -> None:
    result = value.type
    if not (is_subtype(declared, t.TENSOR) and result is t.NONE):
        result = converted(
            result, declared, empty_list=value.empty_list, bools=fc.compiler.ways.bools_are_numbers
        )
    if not is_subtype(result, declared):
        raise _return_mismatch(fc, node, value, declared)
    fc.merged = declared


def _return_mismatch(fc: FunctionCompiler, node: ast.Return, value: Value, declared: t.Type) -> Refusal:
    facts = {"function": fc.node.name, "declared": str(declared), "actual": str(value.type)}
    if isinstance(value.type, t.OptionalType) and is_subtype(value.type.element, declared):
        return not_refined(node, text_of(node.value or node), value.type)
    empty = empties.misfit(fc, value, declared, node)
    if empty is not None:
        return empty
    annotation = spelled_out.annotation(value.type)
    return Refusal("return-type-mismatch/annotated", node, **facts, annotation=annotation)


def merged_return(fc: FunctionCompiler, before: t.Type, now: t.Type, node: ast.AST) -> t.Type:
    """The joint type of two returns of an un-annotated function.

    Raises:
        Refusal: there is none.
    """
    joint = unify(before, now)
    if joint is None:
        if isinstance(node, ast.FunctionDef):
            fc.report(Refusal("missing-return", node, function=fc.node.name, declared=before))
            return t.UNKNOWN
        both = f"Union[{spelled_out.annotation(before)}, {spelled_out.annotation(now)}]"
        raise Refusal("return-type-mismatch", node, function=fc.node.name, before=before, now=now, both=both)
    return joint
