"""Statements after which a tensor lies otherwise in memory, and has the elements that it had."""

from __future__ import annotations

import ast

from tsguard.source.unparsing import unparsed


def lays_out(statement: ast.stmt) -> bool:
    """Whether a statement is ``x = x.contiguous()``."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return False
    function = statement.value.func
    return (
        isinstance(function, ast.Attribute)
        and function.attr == "contiguous"
        and len(statement.targets) == 1
        and unparsed(function.value) == unparsed(statement.targets[0])
    )
