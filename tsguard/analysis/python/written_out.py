"""Expressions that a function of the standard library stands for, evaluated as if they were written at its call."""

from __future__ import annotations

import ast
import copy
from functools import lru_cache

from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.values import SOURCELESS, Scope, Value


@lru_cache(maxsize=64)
def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def evaluated(interp: Interpreter, text: str, names: dict[str, Value], node: ast.AST | None) -> Value:
    """The value of an expression over names, by the rules of who evaluates."""
    expression = copy.deepcopy(_parsed(text))
    if node is not None and hasattr(node, "lineno"):
        for part in ast.walk(expression):
            ast.copy_location(part, node)
    return interp.evaluate(expression, Scope(SOURCELESS.module, names))
