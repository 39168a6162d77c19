"""Fixes for traces: sizes stay what the input has, and a choice by data is made by ``torch.where``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import block_around, removed, replaced_block
from tsguard.fixes.composing import safe, unsafe
from tsguard.fixes.edits import between
from tsguard.fixes.imports import torch_imported
from tsguard.fixes.pieces import atom, rewritten
from tsguard.fixes.places import functions_around, nodes_around, nodes_at
from tsguard.fixes.traced_branches import move_branch
from tsguard.report import Edit, Fix
from tsguard.source import SourceFile, Span, truths

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


def keep_size(event: Event) -> Fix | None:
    """``int(x.size(0) / 2)`` becomes ``x.size(0) // 2``; ``y / float(x.size(0))`` becomes ``y / x.size(0)``."""
    file = event.module.file
    call = next(nodes_at(file, event.span, ast.Call), None)
    if call is None or len(call.args) != 1 or call.keywords or not isinstance(call.func, ast.Name):
        return None
    inner, name = call.args[0], call.func.id
    divides = any(
        isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div) and n.right is call
        for n in nodes_around(file, event.span.line)
    )
    text = between(file, file.span(inner))
    if name == "int" and isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Div):
        divisor = inner.right
        if (
            not _is_size(inner.left)
            or not isinstance(divisor, ast.Constant)
            or type(divisor.value) is not int
        ):
            return None
        text = f"({between(file, file.span(inner.left))} // {divisor.value})"
    elif not _is_size(inner) or not (name == "int" or (name == "float" and divides)):
        return None
    return safe("Leave the size as it is", rewritten(file, call, text))


def ask_for_size(event: Event) -> Fix | None:
    """``len(x)`` of a Tensor becomes ``x.size(0)``.

    Unsafe: what the trace takes for a Tensor because it has no annotation may be a list in eager.
    """
    file = event.module.file
    call = next(nodes_at(file, event.span, ast.Call), None)
    if call is None or ast.unparse(call.func) != "len" or len(call.args) != 1:
        return None
    change = rewritten(file, call, f"{atom(file, call.args[0])}.size(0)")
    return unsafe("Take the first size", change)


def _is_size(node: ast.expr) -> bool:
    """Whether an expression is ``x.size(0)`` or ``x.shape[0]``."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr == "size" and len(node.args) == 1
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "shape"
        and not isinstance(node.slice, ast.Slice)
    )


def choose_with_where(event: Event) -> Fix | None:
    """``a if x.sum() > 0 else b`` becomes ``torch.where(x.sum() > 0, a, b)``; so with ``if`` and two values.

    Other branches are moved into a function that is scripted.

    Unsafe: both sides are computed, and have to be Tensors of shapes and types that fit.
    """
    file = event.module.file
    torch = torch_imported(event.module, event.span.line)
    if torch is None:
        return None
    for node in nodes_around(file, event.span.line):
        if not isinstance(node, (ast.IfExp, ast.If)) or not _asks(file, node.test, event.span):
            continue
        if any(_is_number(event, n.id) for n in ast.walk(node.test) if isinstance(n, ast.Name)):
            return None
        if _is_called(event, node):
            return None
        compared = isinstance(node.test, ast.Compare) and len(node.test.ops) == 1
        one = compared and file.span(node.test) == event.span
        edits: list[Edit] = []
        if one:
            edits = _choice(file, node) if isinstance(node, ast.IfExp) else _choices(file, node)
        if edits:
            return unsafe("Choose with torch.where", torch, edits)
        return move_branch(event, node) if isinstance(node, ast.If) else None
    return None


def _is_called(event: Event, node: ast.IfExp | ast.If) -> bool:
    """Whether what is chosen is called: it is a module or function, and no Tensor."""
    around = functions_around(event.module.file, event.span)
    chosen = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for statement in ast.walk(around[0]) if around else ():
        if isinstance(statement, ast.Assign) and statement.value is node:
            chosen |= {t.id for t in statement.targets if isinstance(t, ast.Name)}
    calls = (n.func for n in ast.walk(around[0]) if isinstance(n, ast.Call)) if around else ()
    return any(f is node or (isinstance(f, ast.Name) and f.id in chosen) for f in calls)


def _is_number(event: Event, name: str) -> bool:
    """Whether a function only compares a name with numbers: it is hardly a Tensor."""
    around = functions_around(event.module.file, event.span)
    return bool(around and truths.compared_with(name, around[0]))


def _asks(file: SourceFile, test: ast.expr, span: Span) -> bool:
    """Whether a place is a test or lies in it."""
    own = file.span(test)
    start, end = (own.line, own.column), (own.end_line, own.end_column)
    return start <= (span.line, span.column) and (span.end_line, span.end_column) <= end


def _choice(file: SourceFile, node: ast.IfExp) -> list[Edit]:
    text = _where(file, node.test, node.body, node.orelse)
    edit = rewritten(file, node, text) if text is not None else None
    return [edit] if edit is not None else []


def _choices(file: SourceFile, node: ast.If) -> list[Edit]:
    """The edits for an ``if`` whose two sides assign one name, or return."""
    rest = block_around(file, node)
    after = rest[rest.index(node) + 1 :] if node in rest else []
    one = node.body[0] if len(node.body) == 1 else None
    gone: ast.stmt | None = None
    if len(node.orelse) == 1:
        other: ast.stmt | None = node.orelse[0]
    else:
        other = gone = after[0] if after and not node.orelse and isinstance(one, ast.Return) else None
    if isinstance(one, ast.Return) and isinstance(other, ast.Return):
        first, second, head = one.value, other.value, "return "
    elif isinstance(one, ast.Assign) and isinstance(other, ast.Assign) and len(one.targets) == 1:
        target = one.targets[0]
        if not isinstance(target, ast.Name) or ast.unparse(target) != ast.unparse(other.targets[0]):
            return []
        first, second, head = one.value, other.value, f"{target.id} = "
    else:
        return []
    text = _where(file, node.test, first, second)
    if text is None:
        return []
    made = replaced_block(file, node, f"{head}{text}")
    edits = [made, *([removed(file, gone)] if gone is not None else [])]
    return [e for e in edits if e is not None] if None not in edits else []


def _where(file: SourceFile, test: ast.expr, one: ast.expr | None, other: ast.expr | None) -> str | None:
    """The call that chooses; None where a side is plainly no Tensor, or a part of the other."""
    if one is None or other is None or _is_part(one, other) or _is_part(other, one):
        return None
    if any(isinstance(side, (ast.Constant, ast.Tuple, ast.List, ast.Dict)) for side in (one, other)):
        return None
    texts = [between(file, file.span(part)) for part in (test, one, other)]
    return f"torch.where({', '.join(texts)})"


def _is_part(one: ast.expr, other: ast.expr) -> bool:
    """Whether a side is a part of the Tensor that the other is, or another part of: their shapes differ."""
    if not isinstance(one, ast.Subscript):
        return False
    whole = other.value if isinstance(other, ast.Subscript) else other
    return ast.unparse(one.value) == ast.unparse(whole) and ast.unparse(one) != ast.unparse(other)
