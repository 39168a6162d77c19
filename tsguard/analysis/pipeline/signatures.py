"""The parameter types that torch.jit assumes for a collate function, compared with what a DataLoader passes."""

from __future__ import annotations

import ast

from tsguard.analysis.events import Event
from tsguard.project import Target


def signature_event(target: Target) -> Event | None:
    """The parameter of a collate function that would be compiled as a Tensor and is none."""
    node = target.node
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    required = _required(node)
    if _is_method(target, node):
        return _event(target, required[0], "the object that it is a method of") if required else None
    batch = required[-1] if required else None
    if batch is None or batch.annotation is not None:
        return None
    return _event(target, batch, "a list of samples")


def length_event(target: Target) -> Event | None:
    """The parameter of a collate function that is its batch, of which a trace would keep the length."""
    node = target.node
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    *_, batch = [None, *_required(node)]
    if batch is None:
        return None
    span = target.module.file.span(batch)
    return Event("collate-traced", target.module, span, {"parameter": batch.arg})


def _required(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.arg]:
    """Parameters without defaults; before the batch come what functools.partial fills in, and ``self``."""
    return node.args.args[: len(node.args.args) - len(node.args.defaults)]


def _is_method(target: Target, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    static = any(getattr(decorator, "id", "") == "staticmethod" for decorator in node.decorator_list)
    return "." in target.qualname and not static


def _event(target: Target, parameter: ast.arg, given: str) -> Event:
    facts = {"parameter": parameter.arg, "given": given}
    return Event("collate-signature", target.module, target.module.file.span(parameter), facts)
