"""What the walks make of each expression, for who asks about a line."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from tsguard.analysis.script.sugared import Function, Method, Simple, Sugared, SugaredModule
from tsguard.analysis.trace.values import Fixed, Number, Traced, Untraced
from tsguard.analysis.values import Value
from tsguard.project.modules import Module

_KEPT = {
    "rank": "its rank",
    "dtype": "its dtype",
    "device": "its device",
    "layout": "its layout",
    "structure": "its structure",
    "mode": "the mode",
    "grad": "whether gradients are enabled",
    "tracing": "whether it is being traced",
}


@dataclass(eq=False, slots=True)
class Observer:
    """What is seen of the names and attributes on one line of a module.

    Each text in ``types`` and ``fates`` is listed once, in the order in which it is met:
    the type in compiled code, and what a trace makes of the value.
    """

    module: Module
    line: int
    types: dict[str, list[str]] = field(default_factory=dict)
    fates: dict[str, list[str]] = field(default_factory=dict)

    def compiled(self, module: Module, node: ast.AST, value: Sugared) -> None:
        """A name or an attribute has a value in compiled code."""
        name = self._name(module, node)
        if name:
            _add(self.types, name, _type(value))

    def traced(self, module: Module, node: ast.AST, value: Value) -> None:
        """An expression has a value while it is traced."""
        name = self._name(module, node)
        if name:
            _add(self.fates, name, _fate(value))

    def _name(self, module: Module, node: ast.AST) -> str:
        if module is not self.module or getattr(node, "lineno", 0) != self.line:
            return ""
        if isinstance(node, ast.arg):
            return node.arg
        return ast.unparse(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""


def _add(found: dict[str, list[str]], name: str, text: str) -> None:
    texts = found.setdefault(name, []) if text else []
    if text not in texts:
        texts.append(text)


def _type(value: Sugared) -> str:
    if isinstance(value, Simple):
        return str(value.value.type)
    if isinstance(value, SugaredModule):
        return f"module {getattr(value.instance.cls, 'name', '')}".strip()
    return value.kind if isinstance(value, (Method, Function)) else ""


def _fate(value: Value) -> str:
    if isinstance(value, Traced):
        return {"inputs": "followed", "state": "a parameter or buffer", "random": "drawn anew"}[value.of]
    if isinstance(value, Number):
        if value.live:
            return "a size, followed"
        return (
            "constant in the trace" if value.kind == "size" else "constant in the trace: read from a tensor"
        )
    if isinstance(value, Fixed):
        return f"constant in the trace: {_KEPT[value.about]}"
    return "constant in the trace, although it differs in every call" if isinstance(value, Untraced) else ""
