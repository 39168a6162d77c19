"""Fixes of calls that only type checkers read."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.composing import safe
from tsguard.fixes.definitions import define_or_leave
from tsguard.fixes.edits import between
from tsguard.fixes.imports import comes_from
from tsguard.fixes.pieces import atom, rewritten
from tsguard.fixes.places import nodes_around
from tsguard.report import Fix

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


def drop_cast_or_leave(event: Event) -> Fix | None:
    """``cast(Tensor, self.fc(x))`` becomes ``self.fc(x)``, which is what it gives; other calls stay in Python."""
    return _without_cast(event) or define_or_leave(event)


def _without_cast(event: Event) -> Fix | None:
    file, name = event.module.file, event.facts.get("name", "")
    if name.rpartition(".")[2] != "cast" or not comes_from(event.module, name, "typing"):
        return None
    for call in nodes_around(file, event.span.line):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == name and len(call.args) == 2:
            type_, value = call.args
            # What is called for the type may do more, and a comment may be about it.
            if any(isinstance(n, (ast.Call, ast.NamedExpr)) for n in ast.walk(type_)):
                return None
            if "#" in between(file, file.span(call)).replace(between(file, file.span(value)), ""):
                return None
            # What runs over lines needs parentheses around it.
            alone = value.lineno == value.end_lineno
            text = atom(file, value) if alone else f"({between(file, file.span(value))})"
            return safe("Leave cast out", rewritten(file, call, text))
    return None
