"""The source of a piece of a tree, written out once: the analysis names values by it again and again."""

from __future__ import annotations

import ast

from tsguard.source.remembering import remembered


@remembered(1 << 15)
def unparsed(node: ast.AST) -> str:
    """What ``ast.unparse`` gives for a node that nobody changes."""
    return dotted(node) or ast.unparse(node)


def dotted(node: ast.AST) -> str:
    """``a.b.c`` for a name and attributes of it, as most of what is asked for is; "" for all else."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    parts.append(node.id)
    return ".".join(reversed(parts))
