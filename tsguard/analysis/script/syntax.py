"""What a function's syntax alone tells of compiling it, found out once for a program."""

from __future__ import annotations

import ast

from tsguard.analysis.python import Program
from tsguard.analysis.python.keeping import Kept
from tsguard.language import grammar
from tsguard.source.functions import FunctionNode
from tsguard.source.walking import walked

_SIZES: Kept[FunctionNode, int] = Kept()
_REFUSED: Kept[tuple[ast.FunctionDef, bool], list[grammar.Refused]] = Kept()


def size_of(program: Program, node: FunctionNode) -> int:
    """What compiling a function takes, in steps: one for each expression in it."""
    sizes = _SIZES.of(program)
    if node not in sizes:
        sizes[node] = sum(isinstance(below, ast.expr) for below in walked(node))
    return sizes[node]


def refused_in(program: Program, node: ast.FunctionDef, *, body: bool) -> list[grammar.Refused]:
    """What torch's grammar refuses in a function, in its signature only unless its ``body`` is compiled."""
    known, key = _REFUSED.of(program), (node, body)
    if key not in known:
        known[key] = list(grammar.refused_in(node, body=body))
    return known[key]
