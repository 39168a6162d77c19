"""Branches whose sides compute the same in other ways: in place or not, with a checkpoint or without."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence

CHECKPOINT = "torch.utils.checkpoint.checkpoint"

_Test = Callable[[ast.expr], bool]


def compute_the_same(body: Sequence[ast.AST], orelse: Sequence[ast.AST], is_checkpoint: _Test) -> bool:
    """Whether two sides of a branch differ at most in how they compute one result.

    Args:
        is_checkpoint: whether a called expression is torch's function for checkpoints.
    """
    return len(body) == len(orelse) > 0 and all(
        type(one) is type(other) and _plain(one, is_checkpoint) == _plain(other, is_checkpoint)
        for one, other in zip(body, orelse, strict=True)
    )


def _plain(node: ast.AST, is_checkpoint: _Test) -> str:
    return ast.unparse(_Plain(is_checkpoint).visit(copy.deepcopy(node)))


class _Plain(ast.NodeTransformer):
    """Puts methods that leave a tensor alone for those that work in place, and calls for checkpoints of them."""

    def __init__(self, is_checkpoint: _Test) -> None:
        self._is_checkpoint = is_checkpoint

    def visit_Call(self, node: ast.Call) -> ast.AST:
        is_checkpoint = bool(node.args) and self._is_checkpoint(node.func)
        self.generic_visit(node)
        if is_checkpoint:
            return ast.Call(node.args[0], node.args[1:], [])
        if isinstance(node.func, ast.Attribute) and _is_in_place(node.func.attr):
            node.func.attr = node.func.attr[:-1]
        return node


def _is_in_place(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_")
