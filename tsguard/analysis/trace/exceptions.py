"""``try`` statements: the trace, and the exported program, contain the example's path."""

from __future__ import annotations

import ast
from typing import TypeGuard

from tsguard.analysis.python import names
from tsguard.analysis.python import statements as python_statements
from tsguard.analysis.python.context import Signal
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.values import Traced, depends
from tsguard.analysis.values import Scope, Unknown
from tsguard.source.unparsing import unparsed
from tsguard.source.walking import walked


def has_effect(node: ast.stmt) -> bool:
    """Whether a statement does more than check, warn or raise."""
    if isinstance(node, ast.If):
        return any(has_effect(statement) for statement in (*node.body, *node.orelse))
    return not isinstance(node, (ast.Raise, ast.Assert, ast.Expr, ast.Pass))


def tried(tracer: Tracer, node: ast.stmt, scope: Scope) -> Signal:
    """The trace holds the way that the example takes through a ``try``."""
    assert isinstance(node, ast.Try)
    is_refused = _goes_another_way(node, _OF_SHAPES) and _computes(node, scope)
    is_beyond = _goes_another_way(node, _OF_INDICES) and _indexes(node, scope)
    if (is_refused or is_beyond) and not _imports_unread(tracer, node, scope):
        tracer.report("exception-path", node.handlers[0])
    catches, misses = _catches(node, _REFUSALS), _catches(node, _MISSING)
    tracer.exports.catching += catches
    tracer.exports.missing += misses
    try:
        return python_statements.HANDLERS[ast.Try](tracer, node, scope)
    finally:
        tracer.exports.catching -= catches
        tracer.exports.missing -= misses


def _imports_unread(tracer: Tracer, node: ast.Try, scope: Scope) -> bool:
    """Whether a ``try`` begins with an import of what was not found: then it is not known which way inputs take."""
    first = node.body[0]
    if not isinstance(first, (ast.Import, ast.ImportFrom)):
        return False
    return any(isinstance(value, Unknown) for _, value in names.imported(tracer, first, scope))


_WHATEVER = frozenset({"", "BaseException", "Exception"})
# What torch.export raises: errors at run time and such of types, and of attributes that its tensors do not have.
_REFUSALS = _WHATEVER | {"RuntimeError", "TypeError"}
_MISSING = _WHATEVER | {"AttributeError"}


def _catches(node: ast.Try, errors: frozenset[str]) -> bool:
    """Whether a handler catches one of some errors."""
    caught = {name for h in node.handlers for name in (_named(h.type) if h.type is not None else [""])}
    return not caught.isdisjoint(errors)


def _named(caught: ast.expr) -> list[str]:
    kinds = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return [unparsed(kind) for kind in kinds]


_OF_SHAPES = _WHATEVER | {"RuntimeError"}
_OF_INDICES = frozenset({"IndexError", "LookupError"})


def _goes_another_way(node: ast.Try, errors: frozenset[str]) -> bool:
    """Whether a handler takes another way after one of some errors, rather than passing it on."""
    return any(
        not errors.isdisjoint(_named(handler.type) if handler.type is not None else [""])
        and any(has_effect(statement) for statement in handler.body)
        for handler in node.handlers
    )


def _indexes(node: ast.Try, scope: Scope) -> bool:
    """Whether what is tried takes by number from a tensor that comes from inputs."""
    taken = (part for s in node.body for part in walked(s) if isinstance(part, ast.Subscript))
    owners = (part.value.id for part in taken if isinstance(part.value, ast.Name) and _counts(part.slice))
    return any(isinstance(scope.names.get(name), Traced) for name in owners)


def _counts(index: ast.expr) -> bool:
    """Whether an index may lie beyond a dimension: a slice never does, nor do ``...`` and None."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return any(
        not isinstance(part, ast.Slice) and not (isinstance(part, ast.Constant) and part.value in (None, ...))
        for part in parts
    )


def _computes(node: ast.Try, scope: Scope) -> bool:
    """Whether what is tried handles values that come from inputs."""
    used = {n.id for s in node.body for n in walked(s) if isinstance(n, ast.Name)}
    parts = [n for s in node.body for n in walked(s)]
    calls = any((isinstance(n, ast.Call) and not _asks(n)) or _combines(n, scope) for n in parts)
    return calls and any(depends(value) for name in used if (value := scope.names.get(name)) is not None)


def _combines(node: ast.AST, scope: Scope) -> bool:
    """Whether an operator takes two tensors that come from inputs, whose shapes may not go together."""
    if not isinstance(node, ast.BinOp):
        return False
    left, right = (
        {n.id for n in walked(side) if _names_tensor(n, scope)} for side in (node.left, node.right)
    )
    return bool(left) and bool(right) and left != right


def _names_tensor(node: ast.AST, scope: Scope) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(scope.names.get(node.id), Traced)


def _asks(call: ast.Call) -> bool:
    """Whether a call tells what a value is, and refuses none: ``isinstance(x, Proxy)``."""
    return isinstance(call.func, ast.Name) and call.func.id in (
        "getattr",
        "hasattr",
        "id",
        "isinstance",
        "type",
    )
