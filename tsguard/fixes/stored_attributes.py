"""Fixes of assignments to attributes: of Tensors by their methods, of modules created in ``__init__`` first."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import inserted_after, method_around, receiver
from tsguard.fixes.composing import safe, unsafe
from tsguard.fixes.edits import between
from tsguard.fixes.imports import torch_imported
from tsguard.fixes.lazily import cst
from tsguard.fixes.pieces import changed_statement
from tsguard.fixes.places import Function, nodes_around
from tsguard.report import Fix
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.events import Event

_IN_PLACE = {ast.Add: "add_", ast.Sub: "sub_", ast.Mult: "mul_", ast.Div: "div_"}


def change_by_method(event: Event) -> Fix | None:
    """``weight.data *= mask`` becomes ``weight.data.mul_(mask)``, ``x.requires_grad = False`` a call too."""
    file = event.module.file
    found = [n for n in nodes_around(file, event.span.line) if isinstance(n, (ast.Assign, ast.AugAssign))]
    if not found:
        return None
    node = found[-1]
    target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
    if not isinstance(target, ast.Attribute) or target.attr != event.facts["name"]:
        return None
    value = between(file, file.span(node.value))
    if isinstance(node, ast.AugAssign) and type(node.op) in _IN_PLACE and target.attr == "data":
        call = f"{between(file, file.span(target))}.{_IN_PLACE[type(node.op)]}({value})"
    elif isinstance(node, ast.Assign) and len(node.targets) == 1 and target.attr == "requires_grad":
        call = f"{between(file, file.span(target.value))}.requires_grad_({value})"
    else:
        return None
    edit = changed_statement(file, node, lambda _: cst.Expr(cst.parse_expression(call)))
    return safe(f"Call {call.partition('(')[0].rpartition('.')[2]}", edit)


def create_in_init(event: Event) -> Fix | None:
    """``self.weights = torch.softmax(...)`` in ``forward``: the attribute starts as an empty Tensor in ``__init__``.

    Unsafe: who asks whether there is such an attribute is told so before the first call.
    """
    file, name = event.module.file, event.facts["name"]
    method = method_around(file, event.span)
    if method is None or str(event.facts.get("given")) != "Tensor":
        return None
    inits = [n for n in method[0].body if isinstance(n, Function) and n.name == "__init__"]
    torch = torch_imported(event.module, event.span.line)
    stores = [
        n
        for n in walked(method[0])
        if isinstance(n, ast.Attribute) and n.attr == name and isinstance(n.ctx, ast.Store)
    ]
    if len(inits) != 1 or torch is None or any(n.lineno <= (inits[0].end_lineno or 0) for n in stores):
        return None
    added = inserted_after(file, inits[0].body[-1], f"{receiver(inits[0])}.{name} = torch.empty(0)")
    return unsafe(f"Create {name} in __init__", torch, added)
