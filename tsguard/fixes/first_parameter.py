"""Fixes of ``next(self.parameters())``, asked for where and in which dtype a module computes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import class_around, fresh_name, inserted_after
from tsguard.fixes.guards import leave_to_python
from tsguard.fixes.imports import torch_imported
from tsguard.fixes.pieces import rewritten
from tsguard.fixes.places import Function
from tsguard.report import Fix

if TYPE_CHECKING:
    from tsguard.analysis.events import Event

# What a buffer without elements answers as a parameter does.
_ASKED = frozenset(
    {"device", "dtype", "is_cuda", "new_zeros", "new_ones", "new_full", "new_empty", "new_tensor", "new"}
)


def hold_like_or_leave(event: Event) -> Fix | None:
    """``next(self.parameters()).device`` becomes that of a buffer, which moves with the parameters."""
    return _hold_like(event) or leave_to_python(event)


def _hold_like(event: Event) -> Fix | None:
    """Unsafe: a parameter that was given a dtype by itself is not followed, and the module has one buffer more."""
    file, owner = event.module.file, class_around(event.module.file, event.span)
    if event.facts.get("name") != "next" or owner is None:
        return None
    inits = [n for n in owner.body if isinstance(n, Function) and n.name == "__init__"]
    first = next((n for init in inits for n in init.body if _calls_super(n)), None)
    found = [call for method in _methods(owner) for call in _calls(method)]
    torch = torch_imported(event.module, event.span.line)
    if first is None or torch is None or not any(event.span.line == call.lineno for call, _ in found):
        return None
    if not all(only_asked for _, only_asked in found):
        return None
    name = fresh_name(file, "like_parameters")
    held = inserted_after(file, first, f'self.register_buffer("{name}", torch.empty(0), persistent=False)')
    changes = [held, *(rewritten(file, call, f"self.{name}") for call, _ in found)]
    made = tuple(change for change in changes if change is not None)
    if len(made) != len(changes):
        return None
    return Fix("unsafe", "Hold a buffer that is where the parameters are", (*torch, *made))


def _calls_super(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and ast.unparse(node).startswith("super(")
        and "__init__" in ast.unparse(node)
    )


def _methods(owner: ast.ClassDef) -> Iterator[Function]:
    return (n for n in owner.body if isinstance(n, Function) and n.name != "__init__")


def _calls(method: Function) -> Iterator[tuple[ast.Call, bool]]:
    """The calls in a method, each with whether its result is only asked what a buffer answers too."""
    nodes = list(ast.walk(method))
    parents = {id(child): node for node in nodes for child in ast.iter_child_nodes(node)}
    for node in nodes:
        if isinstance(node, ast.Call) and _asks_for_first(ast.unparse(node)):
            parent = parents[id(node)]
            yield node, _is_asked(parent, parents) or _is_held_to_be_asked(parent, nodes, parents)


def _asks_for_first(text: str) -> bool:
    """Whether a call is ``next(self.parameters())``, or of a module within this one."""
    owner = text.removeprefix("next(").removesuffix(".parameters())")
    return (
        text == f"next({owner}.parameters())"
        and all(map(str.isidentifier, owner.split(".")))
        and owner.startswith("self")
    )


def _is_asked(parent: ast.AST, parents: dict[int, ast.AST]) -> bool:
    if isinstance(parent, ast.Attribute) and parent.attr == "data":
        return _is_asked(parents[id(parent)], parents)
    return isinstance(parent, ast.Attribute) and parent.attr in _ASKED


def _is_held_to_be_asked(parent: ast.AST, nodes: list[ast.AST], parents: dict[int, ast.AST]) -> bool:
    if isinstance(parent, ast.Attribute) and parent.attr == "data":
        parent = parents[id(parent)]
    if not isinstance(parent, ast.Assign) or len(parent.targets) != 1:
        return False
    target = parent.targets[0]
    if not isinstance(target, ast.Name):
        return False
    uses = [n for n in nodes if isinstance(n, ast.Name) and n.id == target.id and n is not target]
    return all(isinstance(n.ctx, ast.Load) and _is_asked(parents[id(n)], parents) for n in uses)
