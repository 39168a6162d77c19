"""The statements of a tree, without a look at the many more expressions."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable, Iterator

from tsguard.source.unread import Unread

_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")
# Most statements have no block.
_BLOCKS_OF: dict[type[ast.AST], tuple[str, ...]] = {
    kind: tuple(name for name in _BLOCKS if name in kind._fields)
    for kind in (*vars(ast).values(), Unread)
    if isinstance(kind, type) and issubclass(kind, (ast.mod, ast.stmt, ast.ExceptHandler, ast.match_case))
}


def statements(node: ast.AST) -> Iterator[ast.stmt]:
    """A statement and all within it, or all of a module, in the order of ``ast.walk``."""
    todo = deque([node])
    while todo:
        current = todo.popleft()
        if isinstance(current, ast.stmt):
            yield current
        for block in _BLOCKS_OF[type(current)]:
            todo.extend(getattr(current, block))


def held(node: ast.AST) -> list[ast.AST]:
    """What stands in the blocks of a statement, a module, or a part of a statement."""
    return [inner for block in _BLOCKS_OF[type(node)] for inner in getattr(node, block)]


def module_level(body: Iterable[ast.AST]) -> Iterator[ast.stmt]:
    """Statements and those in their blocks, but for what stands in functions and classes."""
    for node in body:
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield from module_level(held(node))
