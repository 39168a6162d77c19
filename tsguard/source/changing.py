"""What statements change: objects that names stand for, and what attributes hold."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tsguard.source.remembering import remembered
from tsguard.source.statements import held
from tsguard.source.unread import Unread
from tsguard.source.walking import walked

_MUTATORS = frozenset(["add", "append", "clear", "extend", "insert", "pop", "remove", "setdefault", "update"])


def changed_in(node: ast.AST) -> frozenset[str]:
    """The names of what a statement, and those in its blocks, change: ``name.append(x)``, ``name[key] = x``."""
    if isinstance(node, Unread):
        return node.told.changed
    own = frozenset(changed_by(node)) if isinstance(node, ast.stmt) else frozenset()
    return own.union(*map(changed_in, held(node)))


def changed_by(node: ast.stmt) -> Iterator[str]:
    """The names of what one statement changes itself."""
    if isinstance(node, (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return)):
        yield from _called_on(node.value)
    if isinstance(node, (ast.Assign, ast.AugAssign)):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if isinstance(target, (ast.Subscript, ast.Attribute)) and isinstance(target.value, ast.Name):
                yield target.value.id


def filled_in(function: ast.AST) -> frozenset[str]:
    """The attributes to which a function adds items: ``self.known[name] = value``."""
    if isinstance(function, Unread):
        return function.told.filled
    return frozenset(
        target.value.attr
        for node in walked(function)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Attribute)
    )


_OF_DOCUMENTATION = frozenset(
    ["__doc__", "__module__", "__name__", "__qualname__", "__signature__", "__wrapped__"]
)


@remembered(1024)
def makes_over(function: ast.AST) -> bool:
    """Whether a decorator of classes puts attributes on one, and not for documentation alone, or defines another."""
    return any(
        isinstance(node, ast.ClassDef)
        or (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and node.attr not in _OF_DOCUMENTATION
            and isinstance(node.value, ast.Name)
            and node.value.id != "self"
        )
        for node in walked(function)
    )


def _called_on(value: ast.expr | None) -> Iterator[str]:
    """The name of which an expression calls a method that changes it."""
    function = value.func if isinstance(value, ast.Call) else None
    if (
        isinstance(function, ast.Attribute)
        and function.attr in _MUTATORS
        and isinstance(function.value, ast.Name)
    ):
        yield function.value.id
