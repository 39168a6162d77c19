"""Functions that do nothing but tell torch that they are used: a call of one changes nothing that the analysis sees."""

from __future__ import annotations

import ast
from typing import TypeGuard

from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.python.keeping import Kept
from tsguard.analysis.values import External, FunctionValue, Scope, Value
from tsguard.source.functions import FunctionNode
from tsguard.source.unparsing import dotted
from tsguard.source.walking import walked

_TELLING = frozenset({"torch._C._log_api_usage_once", "torch._C._log_api_usage_metadata"})
_READING = frozenset({"isinstance", "type", "startswith", "endswith"})
# What reads and changes nothing, whatever it reads.
_EXPRESSIONS = (
    *(ast.Name, ast.Attribute, ast.Constant, ast.JoinedStr, ast.FormattedValue),
    *(ast.BoolOp, ast.boolop, ast.UnaryOp, ast.unaryop, ast.Compare, ast.cmpop, ast.Call, ast.expr_context),
)

_SILENT: Kept[FunctionNode, bool] = Kept()


def is_silent(interp: Interpreter, function: Value) -> bool:
    """Whether calls of a function need not be followed: it returns None, and nothing else comes of it."""
    if isinstance(function, External):
        return function.name in _TELLING
    if not isinstance(function, FunctionValue) or function.marks:
        return False
    known = _SILENT.of(interp.program)
    node = function.node
    if node not in known:
        known[node] = False  # while its calls are looked at: it may call itself
        known[node] = isinstance(node, ast.FunctionDef) and _only_tells(interp, node, function.scope)
    return known[node]


def takes(function: FunctionValue, args: list[Value], kwargs: dict[str, Value]) -> bool:
    """Whether a call passes one argument for each parameter, by position."""
    spec = function.node.args
    is_plain = not (kwargs or spec.vararg or spec.kwonlyargs or spec.kwarg)
    return is_plain and len(args) == len(spec.posonlyargs) + len(spec.args)


def _only_tells(interp: Interpreter, node: ast.FunctionDef, scope: Scope) -> bool:
    calls = [call for call in walked(node) if isinstance(call, ast.Call) and _is_of_telling(call)]
    if not calls or node.decorator_list or not all(map(_is_quiet, node.body)):
        return False
    called = [call.func for call in calls]
    own = {part.arg if isinstance(part, ast.arg) else part.id for part in walked(node) if _is_binding(part)}
    if any(dotted(function).partition(".")[0] in own for function in called):
        return False
    return all(is_silent(interp, interp.evaluate(function, scope)) for function in called)


def _is_binding(node: ast.AST) -> TypeGuard[ast.arg | ast.Name]:
    """Whether a node gives a name of the function's own a meaning."""
    return isinstance(node, ast.arg) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))


def _is_of_telling(call: ast.Call) -> bool:
    return not (
        (isinstance(call.func, ast.Name) and call.func.id in _READING)
        or (isinstance(call.func, ast.Attribute) and call.func.attr in _READING)
    )


def _is_quiet(node: ast.stmt) -> bool:
    """Whether a statement reads, binds names of its own and calls, and does nothing else."""
    if isinstance(node, ast.If):
        return _reads(node.test) and all(map(_is_quiet, (*node.body, *node.orelse)))
    if isinstance(node, ast.Assign):
        return all(isinstance(target, ast.Name) for target in node.targets) and _reads(node.value)
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and _reads(node.value))


def _reads(node: ast.expr) -> bool:
    return all(isinstance(part, _EXPRESSIONS) for part in walked(node))
