"""What a module asks of the machine it is loaded on: environment variables, unset where nothing tells."""

from __future__ import annotations

import ast

from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.python.operations import hint_of
from tsguard.analysis.terms import Environment, placed
from tsguard.analysis.values import NONE, Const, Unknown, Value, constant


def variable(interp: Interpreter, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Value:
    """``os.getenv(name, default)`` and ``os.environ.get(name, default)``."""
    name = constant(args[0]) if args else None
    term = Environment(name) if isinstance(name, str) else placed(node)
    default = args[1] if len(args) > 1 else kwargs.get("default", NONE)
    if not isinstance(default, Const):
        return Unknown(term)
    return Unknown(term, hint_of(default), default)
