"""Code after which a tensor lies otherwise in memory, and has the elements that it had."""

from __future__ import annotations

import ast
from typing import TypeGuard

from tsguard.source.unparsing import unparsed

_COPYING = frozenset({"contiguous", "clone", "detach"})


class Copy(ast.Call):
    """A call ``x.contiguous()``."""

    func: ast.Attribute


def is_copy(node: ast.expr) -> TypeGuard[Copy]:
    """Whether an expression is ``x.contiguous()``, ``x.clone()`` or ``x.detach()``: the elements of ``x``."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _COPYING


def lays_out(statement: ast.stmt) -> bool:
    """Whether a statement is ``x = x.contiguous()``."""
    return (
        isinstance(statement, ast.Assign)
        and is_copy(statement.value)
        and len(statement.targets) == 1
        and unparsed(statement.value.func.value) == unparsed(statement.targets[0])
    )
