"""What a module's code does to its global containers, classes and objects after they are made."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import field

from tsguard.report.records import dataclass
from tsguard.source.changing import changed_by, changed_in


@dataclass(frozen=True, slots=True)
class Changes:
    """Statements at module level by the name they change, and the names that nested code changes,
    each with the functions and classes whose code does so.

    ``registrations`` are those that call a method of a name, and definitions that one decorates.
    """

    statements: dict[str, list[ast.stmt]] = field(default_factory=dict)
    nested: dict[str, frozenset[str]] = field(default_factory=dict)
    registrations: dict[str, list[ast.stmt]] = field(default_factory=dict)


def changes(tree: ast.Module) -> Changes:
    """The changes of global containers and classes in a module."""
    statements: dict[str, list[ast.stmt]] = {}
    nested: dict[str, frozenset[str]] = {}
    registrations: dict[str, list[ast.stmt]] = {}
    for node in tree.body:
        for name in _registering(node):
            registrations.setdefault(name, []).append(node)
        if isinstance(node, (ast.Expr, ast.Assign, ast.AugAssign)):
            for name in changed_by(node):
                statements.setdefault(name, []).append(node)
        elif isinstance(
            node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.If, ast.For, ast.With, ast.Try)
        ):
            own = frozenset(filter(None, [getattr(node, "name", None)]))
            for name in changed_in(node):
                nested[name] = nested.get(name, frozenset()) | own
    return Changes(statements, nested, registrations)


def _registering(node: ast.stmt) -> Iterator[str]:
    """The names of which a statement calls a method, or which decorate what it defines."""
    called: list[ast.expr] = []
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = [node.value.func]
    elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        called = [d.func if isinstance(d, ast.Call) else d for d in node.decorator_list]
    for function in called:
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            yield function.value.id
