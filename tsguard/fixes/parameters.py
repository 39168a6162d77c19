"""Fixes of a function's parameters: the annotations that their defaults ask for."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsguard.fixes.absent_types import is_no_tensor, taken
from tsguard.fixes.composing import safe, unsafe
from tsguard.fixes.imports import imported
from tsguard.fixes.lazily import cst
from tsguard.fixes.pieces import changed_parameter
from tsguard.fixes.places import Function, functions_around
from tsguard.fixes.spelling import spelled
from tsguard.report import Fix
from tsguard.source.functions import positional_parameters

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


def annotate_by_default(event: Event) -> Fix | None:
    """``scale=2.0`` becomes ``scale: float = 2.0``, where the default is written out."""
    name, type_ = event.facts["parameter"], event.facts["annotation"]
    found = _parameter(event, name)
    written = spelled(type_, event.module, found[0].lineno) if found is not None else None
    if found is None or written is None or found[1].annotation is not None or not _is_literal(found[2]):
        return None
    change = changed_parameter(event.module.file, found[0], name, lambda p: annotated(p, written.text))
    return safe(f"Annotate {name} as {type_}", written.edits, change)


def annotate_number(event: Event) -> Fix | None:
    """``def forward(self, x, stage)`` becomes ``stage: int`` for what is only compared with ints."""
    name, type_ = event.facts["parameter"], event.facts["type"]
    for function in functions_around(event.module.file, event.span):
        change = changed_parameter(event.module.file, function, name, lambda p: annotated(p, type_))
        if change is not None:
            return unsafe(f"Annotate {name} as {type_}", change)
    return None


def make_optional(event: Event) -> Fix | None:
    """``size: int = None`` becomes ``size: Optional[int] = None``; what has no annotation may be a Tensor."""
    name = event.facts.get("name") or event.facts["parameter"]
    found = _parameter(event, name)
    if found is None or not (isinstance(found[2], ast.Constant) and found[2].value is None):
        return None
    function, parameter, _ = found
    file = event.module.file
    if parameter.annotation is None:
        # A type comment may speak for it, or what is done with it against it.
        if event.facts["annotated"] != "not annotated" or is_no_tensor(function, name):
            return None
        used = event.facts["type"]
        inner = taken(event.module, function, name, guess=True) if used == "Tensor" else used
        if inner is None:
            return None
        type_ = f"Optional[{inner}]"
        written = spelled(type_, event.module, function.lineno)
        if written is None:
            return None
        change = changed_parameter(file, function, name, lambda p: annotated(p, written.text))
        message = f"Annotate {name} as {type_}"
        return unsafe(message, written.edits, change)
    edits = imported(event.module, "typing", ["Optional"], function.lineno)
    change = changed_parameter(file, function, name, _optional)
    if isinstance(parameter.annotation, ast.Constant):
        return None
    return safe(f"Annotate {name} as Optional", edits, change)


def _parameter(event: Event, name: str) -> tuple[Function, ast.arg, ast.expr] | None:
    """The nearest function round a place that has a parameter of this name, with its default."""
    for function in functions_around(event.module.file, event.span):
        for parameter, default in parameters_with_defaults(function):
            if parameter.arg == name and default is not None:
                return function, parameter, default
    return None


def parameters_with_defaults(node: Function) -> Iterator[tuple[ast.arg, ast.expr | None]]:
    """The parameters that have a name of their own, each with its default."""
    yield from positional_parameters(node)
    yield from zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)


def _is_literal(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple):
        return all(map(_is_literal, node.elts))
    if isinstance(node, ast.BinOp):
        return _is_literal(node.left) and _is_literal(node.right)
    return isinstance(node.operand if isinstance(node, ast.UnaryOp) else node, ast.Constant)


def annotated(parameter: cst.Param, annotation: str) -> cst.Param:
    """A parameter with an annotation: around its "=" are spaces then."""
    equal = parameter.equal
    if isinstance(equal, cst.AssignEqual) and equal.whitespace_before.empty and equal.whitespace_after.empty:
        equal = cst.AssignEqual()
    return parameter.with_changes(
        annotation=cst.Annotation(annotation=cst.parse_expression(annotation)), equal=equal
    )


def _optional(parameter: cst.Param) -> cst.Param:
    annotation = parameter.annotation
    assert annotation is not None
    inner = cst.SubscriptElement(cst.Index(annotation.annotation))
    optional = cst.Subscript(cst.Name("Optional"), [inner])
    return parameter.with_changes(annotation=annotation.with_changes(annotation=optional))
