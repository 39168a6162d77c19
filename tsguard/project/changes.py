"""What a module's code does to its global containers, classes and objects after they are made."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import field

from tsguard.report.records import dataclass
from tsguard.source.statements import statements as statements_in

_MUTATORS = frozenset(["add", "append", "clear", "extend", "insert", "pop", "remove", "setdefault", "update"])


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
            for name in _changed(node):
                statements.setdefault(name, []).append(node)
        elif isinstance(
            node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.If, ast.For, ast.With, ast.Try)
        ):
            own = frozenset(filter(None, [getattr(node, "name", None)]))
            for name in {name for inner in statements_in(node) for name in _changed(inner)}:
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


def _changed(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return)):
        yield from _called_on(node.value)
    if isinstance(node, (ast.Assign, ast.AugAssign)):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if isinstance(target, (ast.Subscript, ast.Attribute)) and isinstance(target.value, ast.Name):
                yield target.value.id


def _called_on(value: ast.expr | None) -> Iterator[str]:
    """The name of which an expression calls a method that changes it."""
    function = value.func if isinstance(value, ast.Call) else None
    if (
        isinstance(function, ast.Attribute)
        and function.attr in _MUTATORS
        and isinstance(function.value, ast.Name)
    ):
        yield function.value.id
