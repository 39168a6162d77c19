"""Branches whose sides compute the same in other ways: in place or not, with a checkpoint, with gradients or without."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Sequence

CHECKPOINTS = {"torch.utils.checkpoint.checkpoint": 1, "torch.utils.checkpoint.checkpoint_sequential": 2}
"""torch's functions for checkpoints, which call their first argument with those from this place on."""

_Skipped = Callable[[ast.expr], int]
_Decided = Callable[[ast.expr], bool | None]
_Records = Callable[[ast.expr], bool]


def compute_the_same(
    body: Sequence[ast.AST],
    orelse: Sequence[ast.AST],
    skipped: _Skipped,
    decided: _Decided,
    records: _Records,
) -> bool:
    """Whether two sides of a branch differ at most in how they compute one result.

    Args:
        skipped: of ``CHECKPOINTS`` the number of what is called, 0 for any other expression.
        decided: the answer to a condition that the module's attributes decide, None for any other.
        records: whether a context decides on nothing but gradients.
    """
    one, other = (_reduced([*_taken(side, decided, records)]) for side in (body, orelse))
    return len(one) == len(other) > 0 and all(
        type(a) is type(b) and _plain(a, skipped) == _plain(b, skipped)
        for a, b in zip(one, other, strict=True)
    )


def _reduced(side: Sequence[ast.AST]) -> list[ast.AST]:
    """What a side does, by the first of the names of a value."""
    reduced: list[ast.AST] = []
    renamed = _Renamed()
    for node in side:
        pairs = _other_names(node) if isinstance(node, ast.Assign) else None
        if pairs is not None:
            renamed.names |= {new: renamed.names.get(old, old) for new, old in pairs.items()}
        else:
            reduced.append(renamed.visit(copy.deepcopy(node)) if renamed.names else node)
    return reduced


def _taken(side: Sequence[ast.AST], decided: _Decided, records: _Records) -> Iterator[ast.AST]:
    """Without branches that are not taken, and without contexts that decide on gradients."""
    for node in side:
        answer = decided(node.test) if isinstance(node, ast.If) else None
        if isinstance(node, ast.If) and answer is not None:
            yield from _taken(node.body if answer else node.orelse, decided, records)
        elif isinstance(node, ast.With) and all(records(item.context_expr) for item in node.items):
            yield from _taken(node.body, decided, records)
        else:
            yield node


def _other_names(node: ast.Assign) -> dict[str, str] | None:
    """``a = b`` and ``a, c = b, d``: the new names with the old ones; None for any other assignment."""
    (target, *more), value = node.targets, node.value
    together = (
        isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts)
    )
    left = target.elts if together and isinstance(target, ast.Tuple) else [target]
    right = value.elts if together and isinstance(value, ast.Tuple) else [value]
    pairs = {
        a.id: b.id
        for a, b in zip(left, right, strict=True)
        if isinstance(a, ast.Name) and isinstance(b, ast.Name)
    }
    return pairs if not more and len(pairs) == len(left) and not pairs.keys() & pairs.values() else None


class _Renamed(ast.NodeTransformer):
    """Puts the first name of a value for the later ones."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if isinstance(node.ctx, ast.Store):
            for new, old in [*self.names.items()]:
                if node.id in (new, old):
                    del self.names[new]
            return node
        return ast.Name(self.names.get(node.id, node.id), node.ctx)


def _plain(node: ast.AST, skipped: _Skipped) -> str:
    return ast.unparse(_Plain(skipped).visit(copy.deepcopy(node)))


class _Plain(ast.NodeTransformer):
    """Puts methods that leave a tensor alone for those that work in place, calls for checkpoints of them, and
    tensors for what is detached of them."""

    def __init__(self, skipped: _Skipped) -> None:
        self._skipped = skipped

    def visit_Call(self, node: ast.Call) -> ast.AST:
        skipped = self._skipped(node.func) if node.args else 0
        self.generic_visit(node)
        if skipped:
            return ast.Call(node.args[0], node.args[skipped:], [])
        if isinstance(node.func, ast.Attribute) and node.func.attr == "detach" and not node.args:
            return node.func.value
        if isinstance(node.func, ast.Attribute) and _is_in_place(node.func.attr):
            node.func.attr = node.func.attr[:-1]
        return node


def _is_in_place(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_")
