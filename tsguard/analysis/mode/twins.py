"""Branches whose sides compute the same in other ways: in place or not, with a checkpoint or without."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence

CHECKPOINTS = {"torch.utils.checkpoint.checkpoint": 1, "torch.utils.checkpoint.checkpoint_sequential": 2}
"""torch's functions for checkpoints, which call their first argument with those from this place on."""

_Skipped = Callable[[ast.expr], int]


def compute_the_same(body: Sequence[ast.AST], orelse: Sequence[ast.AST], skipped: _Skipped) -> bool:
    """Whether two sides of a branch differ at most in how they compute one result.

    Args:
        skipped: of ``CHECKPOINTS`` the number of what is called, 0 for any other expression.
    """
    return len(body) == len(orelse) > 0 and all(
        type(one) is type(other) and _plain(one, skipped) == _plain(other, skipped)
        for one, other in zip(body, orelse, strict=True)
    )


def _plain(node: ast.AST, skipped: _Skipped) -> str:
    return ast.unparse(_Plain(skipped).visit(copy.deepcopy(node)))


class _Plain(ast.NodeTransformer):
    """Puts methods that leave a tensor alone for those that work in place, and calls for checkpoints of them."""

    def __init__(self, skipped: _Skipped) -> None:
        self._skipped = skipped

    def visit_Call(self, node: ast.Call) -> ast.AST:
        skipped = self._skipped(node.func) if node.args else 0
        self.generic_visit(node)
        if skipped:
            return ast.Call(node.args[0], node.args[skipped:], [])
        if isinstance(node.func, ast.Attribute) and _is_in_place(node.func.attr):
            node.func.attr = node.func.attr[:-1]
        return node


def _is_in_place(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_")
