"""The nodes of a tree, listed once: many rules look through the same functions."""

from __future__ import annotations

import ast

from tsguard.source.remembering import remembered
from tsguard.source.unread import Unread

# Fields that hold no code of their own: names, and what a node is told apart by.
_BARE = frozenset(
    {"ctx", "op", "ops", "id", "attr", "arg", "name", "kind", "type_comment", "level", "module", "asname"}
)
_FIELDS = {
    kind: () if kind is ast.Constant else tuple(name for name in kind._fields if name not in _BARE)
    for kind in (*vars(ast).values(), Unread)
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below one, in the order of its fields; operators and contexts are none."""
    found: list[ast.AST] = []
    for name in _FIELDS[type(node)]:
        value = getattr(node, name, None)
        if isinstance(value, list):
            found += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


@remembered(4096)
def walked(node: ast.AST) -> tuple[ast.AST, ...]:
    """A node that nobody changes and all below it, level by level as ``ast.walk`` has them."""
    nodes = [node]
    for current in nodes:
        if _FIELDS[type(current)]:
            nodes += children(current)
    return tuple(nodes)
