"""Fixes of variables that start as something that nothing reads: ``out = []`` above an ``if`` that assigns it in every branch."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import blocks_of, removed
from tsguard.fixes.composing import safe
from tsguard.fixes.places import functions_around
from tsguard.report import Fix
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


def drop_dead_start(event: Event) -> Fix | None:
    """The assignment of a literal goes, where the next thing that happens to the variable is another assignment."""
    name, functions = event.facts["name"], functions_around(event.module.file, event.span)
    for owner in walked(functions[0]) if functions else ():
        for block in blocks_of(owner):
            for index, node in enumerate(block):
                if _starts(node, name) and _is_assigned_next(block[index + 1 :], name):
                    return safe(f"Remove what {name} starts with", removed(event.module.file, node))
    return None


def _starts(node: ast.stmt, name: str) -> bool:
    """Whether a statement assigns nothing but a literal without names to the variable."""
    if not isinstance(node, ast.Assign) or [ast.unparse(t) for t in node.targets] != [name]:
        return False
    value = node.value
    return isinstance(value, ast.Constant) or ast.unparse(value) in ("[]", "{}", "()", "list()", "dict()")


def _is_assigned_next(block: list[ast.stmt], name: str) -> bool:
    """Whether a block assigns the variable before it reads it, on each way through."""
    for node in block:
        mentioned = [n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == name]
        if isinstance(node, ast.Assign) and any(isinstance(n.ctx, ast.Store) for n in mentioned):
            return all(isinstance(n.ctx, ast.Store) for n in mentioned)
        if isinstance(node, ast.If) and mentioned:
            tested = any(n in mentioned for n in ast.walk(node.test))
            ways = (node.body, node.orelse)
            return not tested and all(_is_assigned_next(way, name) for way in ways)
        if isinstance(node, ast.Raise):
            return not mentioned
        if mentioned or any(isinstance(n, (ast.Return, ast.Break, ast.Continue)) for n in ast.walk(node)):
            return False
    return False
