"""What a module's code does to its global containers and classes after they are made."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from tsguard.source.statements import statements as statements_in

_MUTATORS = frozenset(["add", "append", "clear", "extend", "insert", "pop", "remove", "setdefault", "update"])


@dataclass(frozen=True, slots=True)
class Changes:
    """Statements at module level by the name they change, and the names that nested code changes."""

    statements: dict[str, list[ast.stmt]] = field(default_factory=dict)
    nested: frozenset[str] = frozenset()


def changes(tree: ast.Module) -> Changes:
    """The changes of global containers and classes in a module."""
    statements: dict[str, list[ast.stmt]] = {}
    nested: set[str] = set()
    for node in tree.body:
        if isinstance(node, (ast.Expr, ast.Assign, ast.AugAssign)):
            for name in _changed(node):
                statements.setdefault(name, []).append(node)
        elif isinstance(
            node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.If, ast.For, ast.With, ast.Try)
        ):
            nested.update(name for inner in statements_in(node) for name in _changed(inner))
    return Changes(statements, frozenset(nested))


def _changed(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        function = node.value.func
        if (
            isinstance(function, ast.Attribute)
            and function.attr in _MUTATORS
            and isinstance(function.value, ast.Name)
        ):
            yield function.value.id
    elif isinstance(node, (ast.Assign, ast.AugAssign)):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if isinstance(target, (ast.Subscript, ast.Attribute)) and isinstance(target.value, ast.Name):
                yield target.value.id
