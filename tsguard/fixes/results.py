"""Fixes of what functions return: of one type on every path, or of a type that covers them all."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.annotations import has_type_comment
from tsguard.fixes.composing import safe
from tsguard.fixes.imports import imported
from tsguard.fixes.lazily import cst
from tsguard.fixes.pieces import changed_header
from tsguard.fixes.places import Function, functions_around
from tsguard.report import Fix
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.events import Event
    from tsguard.project.modules import Module


# What torch does not make where Any is annotated.
_REFUSED = (ast.List, ast.ListComp, ast.DictComp)


def annotate_result(event: Event) -> Fix | None:
    """What returns several types is annotated ``Any``.

    An annotation changes nothing in Python, and the scripted function returns what eager does.
    """
    around = functions_around(event.module.file, event.span)
    return annotate_any(event.module, around[0]) if around else None


def annotate_any(module: Module, function: Function) -> Fix | None:
    """``def forward(self, x)`` becomes ``def forward(self, x) -> Any``, where no result is annotated."""
    if function.returns is not None or has_type_comment(module, function):
        return None
    if any(isinstance(n, ast.Return) and isinstance(n.value, _REFUSED) for n in walked(function)):
        return None
    edits = imported(module, "typing", ["Any"], function.lineno)
    any_ = cst.Annotation(cst.Name("Any"))
    change = changed_header(module.file, function, lambda header: header.with_changes(returns=any_))
    return safe(f"Annotate the result of {function.name} as Any", edits, change)
