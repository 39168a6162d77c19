"""The source of a piece of a tree, written out once: the analysis names values by it again and again."""

from __future__ import annotations

import ast
from functools import lru_cache


@lru_cache(maxsize=1 << 15)
def unparsed(node: ast.AST) -> str:
    """What ``ast.unparse`` gives for a node that nobody changes."""
    return ast.unparse(node)
