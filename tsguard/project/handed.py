"""Functions that a file hands over: to torch.jit, or to a DataLoader as its ``collate_fn``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tsguard.project.modules import Module
from tsguard.report.records import dataclass
from tsguard.source.remembering import remembered
from tsguard.source.walking import children

_SCRIPTERS = frozenset({"script", "script_if_tracing"})
_CONSUMERS = _SCRIPTERS | {"trace"}
_USES_JIT = re.compile(r"script(?:_if_tracing)?\s*\("), re.compile(r"trace\s*\(")  # each begins with letters
_DEEPEST = 4
# Where DataLoader takes its collate_fn without a keyword.
_POSITION = 6


@dataclass(frozen=True, slots=True)
class HandedOver:
    """Qualified names, as far as the file shows them: ``collate`` or ``Images.collate``."""

    to_script: frozenset[str] = frozenset()
    to_trace: frozenset[str] = frozenset()
    as_collate: frozenset[str] = frozenset()


@remembered(2)  # asked of every target of a file in turn
def handed_over(module: Module) -> HandedOver:
    """What a file hands over, under ``functools.partial``, in a lambda, as a method or as an object to call."""
    text = module.file.text
    if (
        "collate_fn" not in text
        and "DataLoader" not in text
        and not any(use.search(text) for use in _USES_JIT)
    ):
        return HandedOver()
    to_script: set[str] = set()
    to_trace: set[str] = set()
    as_collate: set[str] = set()
    for call, cls in _calls(module.file.tree):
        called = _last_name(call.func)
        if called in _CONSUMERS and call.args:
            names = to_script if called in _SCRIPTERS else to_trace
            names.update(_named(call.args[0], cls, module))
        given = [keyword.value for keyword in call.keywords if keyword.arg == "collate_fn"]
        if called == "DataLoader":
            given += call.args[_POSITION : _POSITION + 1]
        for value in given:
            as_collate.update(_named(value, cls, module))
    return HandedOver(frozenset(to_script), frozenset(to_trace), frozenset(as_collate))


def _calls(tree: ast.Module) -> Iterator[tuple[ast.Call, str]]:
    """Every call, with the qualified name of the class that it stands in."""
    todo: list[tuple[ast.AST, str]] = [(tree, "")]
    while todo:
        node, cls = todo.pop()
        if isinstance(node, ast.ClassDef):
            cls = f"{cls}.{node.name}" if cls else node.name
        elif isinstance(node, ast.Call):
            yield node, cls
        todo += [(child, cls) for child in children(node)]


def _last_name(expression: ast.expr) -> str:
    return expression.attr if isinstance(expression, ast.Attribute) else getattr(expression, "id", "")


def _named(expression: ast.expr, cls: str, module: Module, depth: int = 0) -> Iterator[str]:
    """The names of the functions that an expression may stand for when it is called."""
    if depth > _DEEPEST:
        return
    if isinstance(expression, ast.Name):
        yield expression.id
        value = _assigned(expression.id, module)
        if value is not None:
            yield from _named(value, cls, module, depth + 1)
    elif isinstance(expression, ast.Lambda):
        if isinstance(expression.body, ast.Call):
            yield from _named(expression.body.func, cls, module, depth + 1)
    elif isinstance(expression, ast.Call):
        called = _last_name(expression.func)
        if (called == "partial" or called in _CONSUMERS) and expression.args:
            yield from _named(expression.args[0], cls, module, depth + 1)
        elif isinstance(expression.func, ast.Name):
            yield f"{called}.__call__"
    elif isinstance(expression, ast.Attribute) and isinstance(expression.value, ast.Call):
        yield f"{_last_name(expression.value.func)}.{expression.attr}"
    elif isinstance(expression, ast.Attribute) and isinstance(expression.value, ast.Name):
        yield f"{_class_of(expression.value.id, cls, module)}.{expression.attr}"


def _class_of(name: str, cls: str, module: Module) -> str:
    """The class that a name stands for, or an instance of which it is."""
    if name in ("self", "cls"):
        return cls
    value = _assigned(name, module)
    return _last_name(value.func) if isinstance(value, ast.Call) else name


def _assigned(name: str, module: Module) -> ast.expr | None:
    bindings = module.bindings.get(name, [])
    return getattr(bindings[0].node, "value", None) if len(bindings) == 1 else None
