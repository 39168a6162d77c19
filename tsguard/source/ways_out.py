"""The ways out of a loop: the branches in it that may leave it."""

from __future__ import annotations

import ast

from tsguard.source.remembering import remembered
from tsguard.source.statements import held

_LOOPS = (ast.While, ast.For, ast.AsyncFor)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@remembered(1024)
def ways_out(loop: ast.While) -> frozenset[ast.AST]:
    """Each ``if`` in a loop's body with a ``break`` of this loop or a ``return`` below it."""
    found: set[ast.AST] = set()
    for statement in loop.body:
        _look(statement, (), found, is_inner=False)
    return frozenset(found)


def _look(node: ast.AST, around: tuple[ast.If, ...], found: set[ast.AST], *, is_inner: bool) -> None:
    if isinstance(node, _FUNCTIONS):
        return
    if isinstance(node, ast.Return) or (isinstance(node, ast.Break) and not is_inner):
        found.update(around)
    if isinstance(node, ast.If):
        around = (*around, node)
    for child in held(node):
        _look(child, around, found, is_inner=is_inner or isinstance(node, _LOOPS))
