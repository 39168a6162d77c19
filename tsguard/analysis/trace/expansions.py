"""``if n != t.shape[0]: t = t.expand(n, -1)``: where the sizes are the same already, expanding would change nothing."""

from __future__ import annotations

import ast

from tsguard.source.remembering import remembered
from tsguard.source.unparsing import unparsed


@remembered(4096)
def only_expands(node: ast.If) -> bool:
    """Whether a branch expands one dimension of a tensor to the size that its condition finds it not to have."""
    statement = node.body[0]
    if node.orelse or len(node.body) > 1 or not isinstance(statement, ast.Assign):
        return False
    call, target = statement.value, statement.targets[0]
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.keywords:
        return False
    tensor = unparsed(call.func.value)
    return (
        call.func.attr == "expand"
        and unparsed(target) == tensor
        and any(
            _differ(node.test, tensor, index, size) and _keeps_others(call.args, tensor, index)
            for index, size in enumerate(call.args)
        )
    )


def _differ(test: ast.expr, tensor: str, index: int, size: ast.expr) -> bool:
    """``size != tensor.shape[index]``."""
    if not isinstance(test, ast.Compare) or len(test.ops) > 1 or not isinstance(test.ops[0], ast.NotEq):
        return False
    sides = {unparsed(test.left), unparsed(test.comparators[0])}
    return unparsed(size) in sides and bool(sides & _sizes(tensor, index))


def _keeps_others(sizes: list[ast.expr], tensor: str, index: int) -> bool:
    return all(
        unparsed(size) in {"-1", *_sizes(tensor, place)} for place, size in enumerate(sizes) if place != index
    )


def _sizes(tensor: str, index: int) -> set[str]:
    return {f"{tensor}.shape[{index}]", f"{tensor}.size({index})"}
