"""What a module asks of where it is loaded: environment variables, unset where nothing tells, and loaded modules."""

from __future__ import annotations

import ast

from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.python.operations import hint_of
from tsguard.analysis.terms import Environment, placed
from tsguard.analysis.values import NONE, Const, Unknown, Value, constant

# What is loaded wherever torch is, if it is installed at all.
_LOADED = frozenset({"builtins", "numpy", "os", "sys", "torch"})


def variable(interp: Interpreter, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Value:
    """``os.getenv(name, default)`` and ``os.environ.get(name, default)``."""
    name = constant(args[0]) if args else None
    term = Environment(name) if isinstance(name, str) else placed(node)
    default = args[1] if len(args) > 1 else kwargs.get("default", NONE)
    if not isinstance(default, Const):
        return Unknown(term)
    return Unknown(term, hint_of(default), default)


def is_loaded(interp: Interpreter, name: object) -> bool | None:
    """Whether a name is in ``sys.modules``: what is not installed never is, what else is installed may be."""
    if not isinstance(name, str):
        return None
    if name in _LOADED:
        return True
    finder = interp.program.project.finder
    return None if finder.is_described(name) or finder.named(name) is not None else False


def version(interp: Interpreter, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Value:
    """``importlib.metadata.version(name)``: torch's is that of the tables, any other that of the environment."""
    name = constant(interp.settled(args[0])) if args else None
    if not isinstance(name, str):
        return Unknown(placed(node), "str")
    found = f"{interp.tables.release}.0" if name == "torch" else interp.program.project.finder.version(name)
    return Const(found) if found is not None else Unknown(placed(node), "str")
