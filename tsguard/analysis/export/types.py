"""What a forward takes and returns: tensors, plain values, and containers that pytree knows."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.export.reports import report
from tsguard.analysis.python import ancestry
from tsguard.analysis.python.following import Frame
from tsguard.analysis.trace.values import Fixed
from tsguard.language.rule_names import RuleName
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.trace.context import Tracer

_REGISTERING = ("register_pytree_node", "_register_pytree_node", "register_dataclass", "register_constant")


def check(tracer: Tracer, value: py.Value, node: ast.AST) -> None:
    """Report a returned value of a type that torch.export does not know."""
    pending, seen = [value], set()
    while pending:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, (py.TupleValue, py.ListValue)):
            pending += value.items
        elif isinstance(value, py.DictValue):
            pending += value.items.values()
        else:
            rule = _unknown(tracer, value)
            if rule is not None:
                report(tracer, rule, node, type=_named(value))
                return


def check_input(tracer: Tracer, value: py.Value, node: ast.AST | None) -> None:
    """Report an input of a type that torch.export does not know."""
    if not isinstance(value, py.ObjectValue) or not isinstance(value.cls, py.ClassValue) or value.open:
        return
    if not _is_registered(tracer, value.cls):
        report(tracer, "unknown-type/input", node, type=value.cls.name)


def check_kind(tracer: Tracer, function: py.FunctionValue) -> None:
    """Report a forward that is no ordinary function."""
    if tracer.program.is_generator(function):
        nodes = walked(function.node)
        node = next((n for n in nodes if isinstance(n, (ast.Yield, ast.YieldFrom))), function.node)
        with tracer.running(Frame(function.name, function.module)):
            report(tracer, "unknown-type/generator", node)


def _unknown(tracer: Tracer, value: py.Value) -> RuleName | None:
    if isinstance(value, py.SetValue):
        return "unknown-type"
    if isinstance(value, (py.ModuleValue, py.FunctionValue, py.ClassValue)):
        return "unknown-type"
    if isinstance(value, py.Atom) or (isinstance(value, Fixed) and isinstance(value.default, py.Atom)):
        return "unknown-type"
    if isinstance(value, py.ObjectValue) and isinstance(value.cls, py.ClassValue):
        return None if _is_registered(tracer, value.cls) else "unknown-type/object"
    return None


def _named(value: py.Value) -> str:
    if isinstance(value, Fixed) and isinstance(value.default, py.Atom):
        value = value.default
    if isinstance(value, py.Atom):
        return f"torch.{value.kind}"
    if isinstance(value, py.SetValue):
        return "set"
    if isinstance(value, py.ObjectValue):
        return getattr(value.cls, "name", "object")
    return "function" if isinstance(value, py.FunctionValue) else "class"


def _is_registered(tracer: Tracer, cls: py.ClassValue) -> bool:
    """Whether a class, or one that it derives from, is made known to pytree."""
    for base in ancestry.mro(tracer, cls):
        if not isinstance(base, py.ClassValue):
            if getattr(base, "name", "") not in ("builtins.object", "object"):
                return True  # what is not read may do it
            continue
        if _registers(base.node, "") or any(_registers(s, base.name) for s in base.module.file.tree.body):
            return True
    return False


def _registers(node: ast.AST, name: str) -> bool:
    """Whether code registers a class: of this name, or with "" any (it does so for its subclasses)."""
    if not name:
        return any(_called(part) in _REGISTERING for part in walked(node))
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return False
    calls = [part for part in walked(node) if isinstance(part, ast.Call) and _called(part) in _REGISTERING]
    return any(isinstance(arg, ast.Name) and arg.id == name for call in calls for arg in call.args)


def _called(node: ast.AST) -> str:
    function = node.func if isinstance(node, ast.Call) else None
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
