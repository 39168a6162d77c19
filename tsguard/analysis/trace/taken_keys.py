"""What a statement takes of a dict that an attribute holds, told from the source."""

from __future__ import annotations

import ast
from typing import TypeGuard

from tsguard.source.walking import walked


def keys_taken(statement: ast.AST, name: str) -> list[object] | None:
    """The constant keys under which a statement reads an attribute's items; None where it reads it otherwise.

    What is put under a key (``self.kept["a"] = x``) takes nothing of it.
    """
    nodes = set(walked(statement))
    items = [n for n in nodes if isinstance(n, ast.Subscript) and is_named(n.value, name)]
    is_read = isinstance(statement, ast.AugAssign)
    put = {n.value for n in items if isinstance(n.ctx, ast.Store) and not is_read}
    put |= {owner for node in nodes if is_named(owner := _put_into(node), name)}
    taken = [n for n in nodes - put if is_named(n, name)]
    keys: list[object] = []
    for item in items:
        if item.value not in put and isinstance(item.slice, ast.Constant):
            keys.append(item.slice.value)
    return keys if (items or put) and len(keys) == len(taken) else None


def _put_into(node: ast.AST) -> ast.AST | None:
    """The dict of ``kept.__setitem__("a", x)``, as a lambda has it."""
    function = node.func if isinstance(node, ast.Call) else None
    is_put = isinstance(function, ast.Attribute) and function.attr == "__setitem__"
    return function.value if is_put and isinstance(function, ast.Attribute) else None


def rests_on(statement: ast.AST | None, name: str) -> bool:
    """Whether what a statement assigns is made of what an attribute holds."""
    value = getattr(statement, "value", None)
    return isinstance(statement, ast.AugAssign) or (
        isinstance(value, ast.expr) and any(is_named(node, name) for node in walked(value))
    )


def is_named(node: ast.AST | None, name: str) -> TypeGuard[ast.Attribute]:
    """Whether a node is an attribute of this name, of whatever object."""
    return isinstance(node, ast.Attribute) and node.attr == name
