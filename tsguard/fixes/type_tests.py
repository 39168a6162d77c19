"""Fixes of tests of ``type(x)``, which stays a call of Python."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.composing import unsafe
from tsguard.fixes.edits import between
from tsguard.fixes.pieces import rewritten
from tsguard.fixes.places import nodes_around
from tsguard.report import Fix

if TYPE_CHECKING:
    from tsguard.analysis.events import Event

_SAME = (ast.Eq, ast.Is, ast.In)
_OTHER = (ast.NotEq, ast.IsNot, ast.NotIn)


def ask_isinstance(event: Event) -> Fix | None:
    """``if type(x) == list:`` becomes ``if isinstance(x, list):``.

    Unsafe: what is of a class derived from it passes the test then.
    """
    file = event.module.file
    for test in nodes_around(file, event.span.line):
        if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.left, ast.Call):
            continue
        called = test.left
        if ast.unparse(called.func) != "type" or len(called.args) != 1:
            continue
        kinds, operator = test.comparators[0], test.ops[0]
        several = isinstance(operator, (ast.In, ast.NotIn))
        if not isinstance(operator, (*_SAME, *_OTHER)) or not _names_types(kinds, several):
            return None
        parts = kinds.elts if isinstance(kinds, (ast.List, ast.Tuple)) else [kinds]
        texts = [between(file, file.span(part)) for part in parts]
        kind = f"({', '.join(texts)})" if several else texts[0]
        asked = f"isinstance({between(file, file.span(called.args[0]))}, {kind})"
        change = rewritten(file, test, asked if isinstance(operator, _SAME) else f"not {asked}")
        return unsafe(f"Ask {asked}", change)
    return None


def _names_types(kinds: ast.expr, several: bool) -> bool:
    parts = kinds.elts if several and isinstance(kinds, (ast.List, ast.Tuple)) else [kinds]
    return bool(parts) and all(isinstance(part, (ast.Name, ast.Attribute)) for part in parts)
