"""Memory that nobody writes before it is computed with: what it holds is by chance."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tsguard.analysis.mode.context import ModeInterpreter
from tsguard.analysis.values import Const, TensorValue, Value
from tsguard.source.walking import walked

_FUNCTIONS = frozenset({"torch.empty", "torch.empty_like", "torch.Tensor", "torch.FloatTensor"})
_METHODS = frozenset({"new_empty", "new"})
_COMPUTING = (ast.BinOp, ast.UnaryOp, ast.Compare)


def made(walk: ModeInterpreter, name: str, args: list[Value], node: ast.AST | None) -> None:
    """Report memory that is made and computed with, and to which nothing else is done.

    A function that returns it has it filled by who calls it; what the target's forward returns nobody fills.
    """
    owner, _, short = name.rpartition(".")
    is_method = owner == "method" and short in _METHODS
    if not (is_method or name in _FUNCTIONS) or walk.mode == "train" or not _is_memory(short, args):
        return
    function = walk.frames[-1].function if walk.frames else None
    computing = (*_COMPUTING, ast.Return) if len(walk.frames) == 1 else _COMPUTING
    if function is not None and isinstance(node, ast.Call) and _is_only_used(function, node, computing):
        walk.report("random-in-eval", node, name=f"Tensor.{short}" if is_method else name)


def _is_memory(short: str, args: list[Value]) -> bool:
    """Whether there is anything in what is made, and nothing of it is given."""
    if short == "empty_like":
        return bool(args)
    sizes = [getattr(value, "items", [value]) for value in args]
    held = [item for each in sizes for item in each]
    is_listed = short in ("Tensor", "FloatTensor", "new") and any(hasattr(value, "items") for value in args)
    given = is_listed or any(isinstance(item, TensorValue) for item in held)
    return bool(held) and not given and Const(0) not in held


def _is_only_used(function: ast.AST, made_by: ast.Call, computing: tuple[type[ast.AST], ...]) -> bool:
    around = dict(_parents(function))
    holder = around.get(made_by)
    if isinstance(holder, computing):
        return True
    if not isinstance(holder, ast.Assign) or len(holder.targets) > 1:
        return False
    target = holder.targets[0]
    if not isinstance(target, ast.Name):
        return False
    uses_ = [
        part for part in around if isinstance(part, ast.Name) and part.id == target.id and part is not target
    ]
    return bool(uses_) and all(
        isinstance(part.ctx, ast.Load) and isinstance(around[part], computing) for part in uses_
    )


def _parents(function: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    for part in walked(function):
        for child in ast.iter_child_nodes(part):
            yield child, part
