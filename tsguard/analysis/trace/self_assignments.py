"""Statements that assign to something what it was, or what is made of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tsguard.source.unparsing import unparsed
from tsguard.source.walking import walked

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


def is_written_into(statement: ast.AST | None, data: ast.AST | None) -> bool:
    """Whether ``data``, a ``self.level.data``, is all that a statement reads of it, to name it or to write into it.

    As in ``eps = self.level.data`` and ``eps = self.level.data.normal_()``.
    """
    if isinstance(statement, ast.Assign) and statement.value is data:
        return True
    if statement is None or not isinstance(data, ast.Attribute):
        return False
    held = unparsed(data.value)
    reads = sum(isinstance(node, ast.Attribute) and unparsed(node) == held for node in walked(statement))
    return reads == 1 and any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.value is data
        and node.func.attr.endswith("_")
        for node in walked(statement)
    )


def is_reckoned_of_data(statement: ast.AST | None, *, is_named: bool = False) -> bool:
    """Whether numbers make what is assigned of what was there: ``self.level.data = 0.9 * self.level.data``.

    ``is_named`` where a name may stand for that (``old = self.level.data``).
    """
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        return False
    data = statement.targets[0]
    if not isinstance(data, ast.Attribute) or not isinstance(statement.value, (ast.BinOp, ast.UnaryOp)):
        return False
    held = {unparsed(data), unparsed(data.value)}
    leaves = [leaf for leaf in _leaves(statement.value) if not isinstance(leaf, ast.Constant)]
    return len(leaves) == 1 and (
        (is_named and isinstance(leaves[0], ast.Name)) or unparsed(leaves[0]) in held
    )


def _leaves(node: ast.expr) -> Iterator[ast.expr]:
    """What an arithmetical expression is made of."""
    if isinstance(node, ast.BinOp):
        yield from _leaves(node.left)
        yield from _leaves(node.right)
    elif isinstance(node, ast.UnaryOp):
        yield from _leaves(node.operand)
    else:
        yield node


def _method_of_itself(statement: ast.AST | None) -> str:
    """The method in ``x = x.method(...)``; "" for any other statement."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return ""
    function = statement.value.func
    if not isinstance(function, ast.Attribute) or len(statement.targets) > 1:
        return ""
    return function.attr if unparsed(function.value) == unparsed(statement.targets[0]) else ""
