"""The branches around what runs, and those that ask only whether to set something up."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tsguard.analysis.python.following import Frame
from tsguard.analysis.trace.values import is_live
from tsguard.analysis.values import NONE, Scope
from tsguard.source.walking import walked


def branches_among(enclosing: Sequence[ast.AST | None]) -> tuple[int, ...]:
    """Those of the statements around one that need not run in each call, by identity."""
    branches = (ast.If, ast.For, ast.While, ast.Try, ast.Match)
    return tuple([id(outer) for outer in enclosing if isinstance(outer, branches)])


def runs_always(statement: ast.AST | None, enclosing: Sequence[ast.AST | None]) -> bool:
    """Whether a statement runs in each call that does not raise: behind no branch, or in a ``finally:``."""
    finished = [outer for outer in enclosing if isinstance(outer, ast.Try) and statement in outer.finalbody]
    return len(branches_among(enclosing)) == len(finished)


def is_within(enclosing: Sequence[ast.AST | None], branches: tuple[int, ...] | None) -> bool:
    """Whether what runs stands in all of some branches."""
    return branches is not None and branches_among(enclosing)[: len(branches)] == branches


def compares(branch: ast.If) -> bool:
    """Whether a condition holds what is kept against the call: ``length > self.length``, not ``self.length == 0``."""
    orders = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
    return any(
        isinstance(node, ast.Compare)
        and isinstance(node.ops[0], orders)
        and not any(isinstance(side, ast.Constant) for side in (node.left, *node.comparators))
        for node in walked(branch.test)
    )


def only_guards(statement: ast.AST | None, frames: list[Frame]) -> bool:
    """Whether what a branch reads decides on nothing but attributes and calls, and names that only it knows."""
    if not isinstance(statement, ast.If):
        return False
    function = frames[-1].function if frames else None
    if _leaves(statement):
        return function is not None and _only_sets_up(function, statement)
    nodes = {node for branch in (*statement.body, *statement.orelse) for node in walked(branch)}
    if any(isinstance(node, ast.Return) for node in nodes):
        return False
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return not bound or (
        function is not None
        and not any(isinstance(node, ast.Name) and node.id in bound for node in set(walked(function)) - nodes)
    )


def writes(body: Sequence[ast.stmt], scope: Scope) -> bool:
    """Whether a branch changes something in place by what names of inputs hold: ``self.level.mul_(0.9).add_(x.mean())``."""
    return any(
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and isinstance(statement.value.func, ast.Attribute)
        and statement.value.func.attr.endswith("_")
        and any(isinstance(n, ast.Name) and is_live(scope.names.get(n.id, NONE)) for n in walked(statement))
        for statement in body
    )


def _leaves(branch: ast.If) -> bool:
    """Whether a branch does nothing but end its function without a result: ``if self.ready: return``."""
    only = branch.body[0]
    return isinstance(only, ast.Return) and only.value is None and not branch.orelse


def _only_sets_up(function: ast.AST, branch: ast.If) -> bool:
    """Whether a function that a branch may leave has nothing to give back after it either."""
    body = function.body if isinstance(function, ast.FunctionDef) else []
    if branch not in body:
        return False
    after = [node for statement in body[body.index(branch) + 1 :] for node in walked(statement)]
    return not any(
        (isinstance(node, ast.Return) and node.value is not None)
        or isinstance(node, (ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom))
        for node in after
    )
