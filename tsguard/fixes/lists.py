"""Fixes of tuples whose length TorchScript does not know, or that differ in length: lists do as sizes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import around
from tsguard.fixes.composing import composed, unsafe
from tsguard.fixes.edits import between
from tsguard.fixes.final_flags import declare_flag
from tsguard.fixes.pieces import rewritten
from tsguard.fixes.places import nodes_around
from tsguard.fixes.sequences import take_list
from tsguard.report import Edit, Fix
from tsguard.source import SourceFile

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


def join_lists(event: Event) -> Fix | None:
    """``(n, 1, *x.shape[1:])`` becomes ``[n, 1] + list(x.shape[1:])``.

    Unsafe for a tuple: who tells tuples from lists sees another type.
    """
    file = event.module.file
    taken = take_list(event)
    if taken is not None:
        return taken
    literals = [n for n in around(file, event.span, ast.expr) if isinstance(n, (ast.Tuple, ast.List))]
    literals += [n for n in nodes_around(file, event.span.line) if isinstance(n, (ast.Tuple, ast.List))]
    for literal in literals:
        if isinstance(literal.ctx, ast.Load) and any(isinstance(e, ast.Starred) for e in literal.elts):
            text = _sum_of_lists(file, literal.elts)
            alone = " + " not in text or _is_alone(file, literal)
            change = rewritten(file, literal, text if alone else f"({text})")
            is_list = isinstance(literal, ast.List)
            return composed("safe" if is_list else "unsafe", "Join lists", change)
    return None


def _sum_of_lists(file: SourceFile, elements: list[ast.expr]) -> str:
    parts: list[str] = []
    single: list[str] = []
    for element in elements:
        if not isinstance(element, ast.Starred):
            single.append(between(file, file.span(element)))
            continue
        if single:
            parts.append(f"[{', '.join(single)}]")
        single = []
        parts.append(_listed(file, element.value))
    if single:
        parts.append(f"[{', '.join(single)}]")
    return " + ".join(parts)


def _is_alone(file: SourceFile, node: ast.expr) -> bool:
    """Whether an expression is an argument or all of a value, so that an operator in it binds nothing else."""
    for outer in nodes_around(file, node.lineno):
        if isinstance(outer, ast.Call) and any(node is a for a in outer.args):
            return True
        if isinstance(outer, (ast.Assign, ast.Return, ast.keyword)) and outer.value is node:
            return True
    return False


def _listed(file: SourceFile, node: ast.expr) -> str:
    """What a starred expression expands, as a list: ``(1,) * n`` is ``[1] * n``."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and isinstance(node.left, ast.Tuple):
        elements = ", ".join(between(file, file.span(e)) for e in node.left.elts)
        return f"[{elements}] * {_factor(file, node.right)}"
    text = between(file, file.span(node))
    return text if isinstance(node, ast.List) else f"list({text})"


def _factor(file: SourceFile, node: ast.expr) -> str:
    text = between(file, file.span(node))
    return text if isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Constant)) else f"({text})"


def list_for_tuples(event: Event) -> Fix | None:
    """``pad = (0, 1)`` in one branch and ``pad = (0, 1, 0, 1)`` in the other become lists.

    Unsafe: who tells tuples from lists sees another type.
    """
    flag = declare_flag(event)
    facts = event.facts
    kinds = {_elements(facts.get(side, "")) for side in ("then", "otherwise")}
    if flag is not None or len(kinds) != 1 or None in kinds or "line" not in facts:
        return flag
    file, line = event.module.file, int(facts["line"])
    branches = [n for n in nodes_around(file, line) if isinstance(n, ast.If) and n.lineno == line]
    assigned = [
        n
        for n in (ast.walk(branches[-1]) if branches else ())
        if isinstance(n, ast.Assign) and [ast.unparse(t) for t in n.targets] == [facts["name"]]
    ]
    edits: list[Edit | None] = []
    for statement in assigned:
        value = statement.value
        if not isinstance(value, ast.Tuple) or any(isinstance(e, ast.Starred) for e in value.elts):
            return None
        inner = ", ".join(between(file, file.span(e)) for e in value.elts)
        edits.append(rewritten(file, value, f"[{inner}]"))
    return unsafe("Write the tuples as lists", edits)


def _elements(type_: str) -> str | None:
    """The one type of a tuple's elements; None for other types."""
    if not type_.startswith("Tuple["):
        return None
    found = set(type_[len("Tuple[") : -1].split(", "))
    return found.pop() if len(found) == 1 else None
