"""The statements of a tree, without a look at the many more expressions."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable, Iterator

_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")


def statements(node: ast.AST) -> Iterator[ast.stmt]:
    """A statement and all within it, or all of a module, in the order of ``ast.walk``."""
    todo = deque([node])
    while todo:
        current = todo.popleft()
        if isinstance(current, ast.stmt):
            yield current
        for block in _BLOCKS:
            todo.extend(getattr(current, block, ()))


def module_level(body: Iterable[ast.AST]) -> Iterator[ast.stmt]:
    """Statements and those in their blocks, but for what stands in functions and classes."""
    for node in body:
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for block in _BLOCKS:
                yield from module_level(getattr(node, block, ()))
