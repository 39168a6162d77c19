"""Statements that assign to something what it was, or what is made of it."""

from __future__ import annotations

import ast

from tsguard.source.unparsing import unparsed

# Methods of a tensor that give one of the same elements.
_MOVES = frozenset({"to", "type_as", "cuda", "cpu", "contiguous", "detach", "clone"})


def only_updates(statement: ast.AST | None) -> bool:
    """Whether what a statement reads of a cell can only go into the cell itself."""
    if isinstance(statement, ast.Assign):
        return len(statement.targets) == 1 and isinstance(
            statement.targets[0], (ast.Attribute, ast.Subscript)
        )
    return isinstance(statement, (ast.AugAssign, ast.Expr))


def is_in_place(statement: ast.AST | None) -> bool:
    """Whether a tensor that is assigned is the one that was there: ``x += y``, ``x = x.add_(y)``."""
    return isinstance(statement, ast.AugAssign) or _method_of_itself(statement).endswith("_")


def is_only_moved(statement: ast.AST | None) -> bool:
    """Whether what is assigned holds what was there, as in ``self.mask = self.mask.to(x.device)``."""
    return _method_of_itself(statement) in _MOVES


def _method_of_itself(statement: ast.AST | None) -> str:
    """The method in ``x = x.method(...)``; "" for any other statement."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return ""
    function = statement.value.func
    if not isinstance(function, ast.Attribute) or len(statement.targets) > 1:
        return ""
    return function.attr if unparsed(function.value) == unparsed(statement.targets[0]) else ""
