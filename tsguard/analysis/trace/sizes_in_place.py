"""Sizes while tracing are tensors: ``n += 1`` changes one in place, under all its names, and keeps it an integer.

Source: torch/csrc/jit/frontend/tracer.cpp (``getSizeOf``), torch/csrc/Size.cpp; of Python's numbers none changes.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Sequence

from tsguard.analysis import values as py
from tsguard.analysis.python import operations
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.values import Change, Number, Traced, parts

_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def changed(tracer: Tracer, left: py.Value, node: ast.AugAssign, right: py.Value) -> None:
    """``left op= right``."""
    if not isinstance(left, Number) or not left.live or tracer.is_export or tracer.is_aside:
        return
    if left.hint != "float" and _makes_float(node.op, right):
        tracer.report("size-in-place/float", node, left.origin)
    else:
        change = Change(node, left.origin, _blocks([*tracer.enclosing, tracer.statement]))
        tracer.overwritten.setdefault(identity(left), change)


def identity(number: Number) -> object:
    """What tells the tensor that a number is from those of other numbers."""
    return number if number.tensor is None else number.tensor


def read(tracer: Tracer, values: Iterable[py.Value]) -> None:
    """Values are used: none may be a number that has been changed in place under another name."""
    for value in parts(values):
        change = tracer.overwritten.get(identity(value)) if isinstance(value, Number) else None
        if change is not None and _may_follow(change.blocks, [*tracer.enclosing, tracer.statement]):
            tracer.report("size-in-place", change.node, change.origin)


def _makes_float(op: ast.operator, right: py.Value) -> bool:
    """Whether the result is no integer, which the tensor cannot hold."""
    if isinstance(op, ast.Div):
        return True
    if isinstance(op, ast.Pow) and isinstance(right, py.Const) and type(right.value) is int:
        return right.value < 0
    if isinstance(right, Traced):
        return right.dtype.startswith(("float", "bfloat"))
    return operations.hint_of(right) == "float"


def _blocks(enclosing: Sequence[ast.AST | None]) -> tuple[tuple[ast.AST, int, bool], ...]:
    """The blocks of which one alone runs, that statements stand in: of what, which, and whether it is left then."""
    found = []
    for outer, inner in itertools.pairwise(enclosing):
        for place, block in enumerate(_alternatives(outer)):
            if inner in block:
                found.append((outer, place, isinstance(block[-1], _ENDS)))
    return tuple((outer, place, leaves) for outer, place, leaves in found if outer is not None)


def _alternatives(statement: ast.AST | None) -> list[list[ast.stmt]]:
    if isinstance(statement, ast.If):
        return [statement.body, statement.orelse]
    if isinstance(statement, ast.Match):
        return [case.body for case in statement.cases]
    if isinstance(statement, ast.Try):
        return [statement.body, *(handler.body for handler in statement.handlers)]
    return []


def _may_follow(before: tuple[tuple[ast.AST, int, bool], ...], enclosing: Sequence[ast.AST | None]) -> bool:
    """Whether what runs now may come after what stands in some blocks."""
    now = {outer: place for outer, place, _ in _blocks(enclosing)}
    return all(now.get(outer, None if leaves else place) == place for outer, place, leaves in before)
