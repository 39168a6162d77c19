"""Branches that only tell the user something: a trace loses the words, and nothing else."""

from __future__ import annotations

import ast

from tsguard.analysis import values as py
from tsguard.analysis.python.context import Raised
from tsguard.analysis.python.silent_functions import is_silent
from tsguard.analysis.trace import runs
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.values import Scope
from tsguard.source.remembering import remembered
from tsguard.source.unparsing import dotted
from tsguard.source.walking import walked

_TELLING = frozenset(
    ["builtins.print", "warnings.warn"]
    + [f"logging.{name}" for name in ("debug", "info", "warning", "error", "exception", "critical", "log")]
)
_LOGGER = py.External("logging.Logger")
_RUNS = frozenset({"torch.jit.is_scripting", "torch._jit_internal.is_scripting", *runs.HANDLERS})
# Calls among what is told that read and change nothing.
_READING = frozenset(
    [
        "abs", "all", "any", "cpu", "detach", "dim", "float", "format", "int", "isinf", "isnan", "item", "join", "len",
        "list", "max", "mean", "min", "norm", "numel", "round", "size", "std", "str", "sum", "tolist", "tuple", "type",
    ]
)  # fmt: skip


def only_tells(tracer: Tracer, node: ast.If, scope: Scope) -> bool:
    """Whether all that the branches do is to print, warn or log."""
    calls = _calls(node)
    return calls is not None and all(_tells(tracer, call, scope) for call in calls)


def tells_torch(tracer: Tracer, node: ast.If, scope: Scope) -> bool:
    """Whether all that comes of a test of the kind of run is that torch is told of one: ``if not is_tracing(): log(f)``."""
    calls = _calls(node)
    if not calls or not _asks_for_run(tracer, node.test, scope):
        return False
    return all(
        isinstance(call.func, ast.Name) and is_silent(tracer, tracer.evaluate(call.func, scope))
        for call in calls
    )


def _asks_for_run(tracer: Tracer, test: ast.expr, scope: Scope) -> bool:
    if isinstance(test, ast.BoolOp):
        return all(_asks_for_run(tracer, part, scope) for part in test.values)
    if isinstance(test, ast.UnaryOp):
        return _asks_for_run(tracer, test.operand, scope)
    if not isinstance(test, ast.Call) or test.args or test.keywords or not dotted(test.func):
        return False
    asked = tracer.evaluate(test.func, scope)
    return isinstance(asked, py.External) and asked.name in _RUNS


@remembered(4096)
def _calls(node: ast.If) -> tuple[ast.Call, ...] | None:
    """The calls of names that the branches consist of; None where there is anything else."""
    found = []
    for statement in (*node.body, *node.orelse):
        value = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(value, ast.Call) and only_reads(value):
            found.append(value)
        elif not isinstance(statement, ast.Pass) and not isinstance(value, ast.Constant):
            return None
    return tuple(found)


def only_reads(call: ast.Call) -> bool:
    """Whether what a call is given is made without a change of anything."""
    inner = [n for part in (*call.args, *call.keywords) for n in walked(part)]
    names = {_name(n) for n in inner if isinstance(n, ast.Call)}
    return bool(_name(call)) and names <= _READING and not any(isinstance(n, ast.NamedExpr) for n in inner)


def _name(call: ast.Call) -> str:
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _tells(tracer: Tracer, call: ast.Call, scope: Scope) -> bool:
    """Whether a call tells something; one that raises where it stands is in a branch that may not be taken."""
    try:
        return _is_telling(tracer, call.func, scope)
    except Raised:
        return False


def _is_telling(tracer: Tracer, function: ast.expr, scope: Scope) -> bool:
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        owner = tracer.evaluate(function.value, scope)
        if isinstance(owner, py.ObjectValue):
            return owner.cls == _LOGGER
    elif not isinstance(function, ast.Name):
        return False
    named = tracer.evaluate(function, scope)
    return isinstance(named, py.External) and named.name in _TELLING
