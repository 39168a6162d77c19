"""Fixes of ``if a: ...`` that is followed by ``if not a: ...``: they are the two branches of one ``if``."""

from __future__ import annotations

import ast
import itertools
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import block_around, changed_block
from tsguard.fixes.composing import composed
from tsguard.fixes.lazily import cst
from tsguard.fixes.places import nodes_around
from tsguard.fixes.stand_ins import raise_or_define
from tsguard.report import Fix
from tsguard.source import SourceFile

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


def join_complements(event: Event) -> Fix | None:
    """``if a: x = f()`` and ``if not a: x = g()`` below it become ``if a: x = f()``, ``else: x = g()``.

    What the condition reads is assigned nowhere between the two tests. Unsafe for an attribute, which what is
    called there may assign.
    """
    file, line = event.module.file, int(event.facts["line"])
    pair = _pair(file, line)
    if pair is None:
        return raise_or_define(event)
    first, second = pair
    taken: list[cst.If] = []

    def take(block: cst.If) -> list[cst.BaseStatement]:
        taken.append(block)
        return []

    def join(block: cst.If) -> cst.BaseStatement | None:
        if not taken:
            return None
        otherwise = cst.Else(taken[0].body, leading_lines=taken[0].leading_lines)
        return block.with_changes(orelse=otherwise)

    gone = changed_block(file, second, cst.If, take)
    joined = changed_block(file, first, cst.If, join)
    plain = isinstance(_without_not(first.test)[0], ast.Name)
    return composed("safe" if plain else "unsafe", "Write the two tests as one", joined, gone)


def _pair(file: SourceFile, line: int) -> tuple[ast.If, ast.If] | None:
    """The ``if`` of a line with the one below or above it that runs exactly where it does not."""
    found = next((n for n in nodes_around(file, line) if isinstance(n, ast.If) and n.lineno == line), None)
    block = block_around(file, found) if found is not None else []
    for first, second in itertools.pairwise(block):
        if found is not first and found is not second:
            continue
        if not isinstance(first, ast.If) or not isinstance(second, ast.If):
            continue
        if not first.orelse and not second.orelse and _complete(first, second):
            return first, second
    return None


def _complete(first: ast.If, second: ast.If) -> bool:
    """Whether one of two ``if`` statements runs exactly where the other does not."""
    one, other = first.test, second.test
    inner, negated = _without_not(one)
    other_inner, other_negated = _without_not(other)
    if negated == other_negated or ast.unparse(inner) != ast.unparse(other_inner):
        return False
    if not isinstance(inner, (ast.Name, ast.Attribute)):
        return False
    names = {n.id for n in ast.walk(inner) if isinstance(n, ast.Name)}
    stored = [n for part in first.body for n in ast.walk(part) if isinstance(n, (ast.Name, ast.Attribute))]
    stored = [n for n in stored if isinstance(n.ctx, ast.Store)]
    return not any(
        n.id in names if isinstance(n, ast.Name) else ast.unparse(n) == ast.unparse(inner) for n in stored
    )


def _without_not(test: ast.expr) -> tuple[ast.expr, bool]:
    """A condition without the ``not`` before it, and whether there was one."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand, True
    return test, False
