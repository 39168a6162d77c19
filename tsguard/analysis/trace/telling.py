"""Branches that only tell the user something: a trace loses the words, and nothing else."""

from __future__ import annotations

import ast
import functools

from tsguard.analysis import values as py
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.values import Scope

_TELLING = frozenset(
    ["builtins.print", "warnings.warn"]
    + [f"logging.{name}" for name in ("debug", "info", "warning", "error", "exception", "critical", "log")]
)
_LOGGER = py.External("logging.Logger")


def only_tells(tracer: Tracer, node: ast.If, scope: Scope) -> bool:
    """Whether all that the branches do is to print, warn or log."""
    calls = _calls(node)
    return calls is not None and all(_tells(tracer, call, scope) for call in calls)


@functools.lru_cache(maxsize=4096)
def _calls(node: ast.If) -> tuple[ast.Call, ...] | None:
    """The calls of names that the branches consist of; None where there is anything else."""
    found = []
    for statement in (*node.body, *node.orelse):
        value = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(value, ast.Call) and isinstance(value.func, (ast.Name, ast.Attribute)):
            found.append(value)
        elif not isinstance(statement, ast.Pass) and not isinstance(value, ast.Constant):
            return None
    return tuple(found)


def _tells(tracer: Tracer, call: ast.Call, scope: Scope) -> bool:
    function = call.func
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        owner = tracer.evaluate(function.value, scope)
        if isinstance(owner, py.ObjectValue):
            return owner.cls == _LOGGER
    elif not isinstance(function, ast.Name):
        return False
    named = tracer.evaluate(function, scope)
    return isinstance(named, py.External) and named.name in _TELLING
