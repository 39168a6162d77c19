"""Fixes of ``next(self.parameters())``, asked for where and in which dtype a module computes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import class_around, fresh_name, receiver
from tsguard.fixes.composing import unsafe
from tsguard.fixes.constructors import constructor_of, held_last
from tsguard.fixes.guards import leave_to_python
from tsguard.fixes.imports import torch_imported
from tsguard.fixes.pieces import rewritten
from tsguard.fixes.places import Function
from tsguard.report import Fix
from tsguard.source.walking import walked

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
    """Unsafe: a parameter that is moved by itself later is not followed, and the module has one buffer more."""
    file, owner = event.module.file, class_around(event.module.file, event.span)
    init = constructor_of(owner) if owner is not None else None
    if event.facts.get("name") != "next" or owner is None or init is None:
        return None
    methods = [n for n in owner.body if isinstance(n, Function) and n is not init]
    found = {method: list(_calls(method)) for method in methods}
    calls = [(method, *call) for method in methods for call in found[method]]
    torch = torch_imported(event.module, event.span.line)
    if not any(event.span.line == call.lineno for _, call, _, _ in calls):
        return None
    if not all(only_asked and _is_there(init, of) for _, _, of, only_asked in calls):
        return None
    names = {of: fresh_name(file, f"like_{of.rpartition('.')[2] or 'parameters'}") for _, _, of, _ in calls}
    self_ = receiver(init)
    lines = [
        f'{self_}.register_buffer("{name}", next({self_}{of}.parameters(), torch.empty(0)).new_empty(0), persistent=False)'
        for of, name in names.items()
    ]
    held = held_last(file, owner, [method for method in methods if found[method]], *lines)
    if len(set(names.values())) != len(names):
        return None
    read = [rewritten(file, call, f"{receiver(m)}.{names[of]}") for m, call, of, _ in calls]
    return unsafe("Hold a buffer that is where the parameters are", torch, held, read)


def _is_there(init: Function, of: str) -> bool:
    """Whether the constructor makes the submodule that is asked, whatever it is given."""
    made = [n for n in init.body if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call)]
    return not of or any(ast.unparse(t) == f"{receiver(init)}{of}" for n in made for t in n.targets)


def _calls(method: Function) -> Iterator[tuple[ast.Call, str, bool]]:
    """The calls in a method, each with what it asks, and whether its result is only asked what a buffer answers too."""
    nodes = walked(method)
    parents = {id(child): node for node in nodes for child in ast.iter_child_nodes(node)}
    for node in nodes:
        of = _asked_for_first(ast.unparse(node), receiver(method)) if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Call) and of is not None:
            parent = parents[id(node)]
            yield node, of, _is_asked(parent, parents) or _is_held_to_be_asked(parent, nodes, parents)


def _asked_for_first(text: str, self_: str | None) -> str | None:
    """ ".encoder" for ``next(self.encoder.parameters())``, and "" for the module itself; None for other calls."""
    owner = text.removeprefix("next(").removesuffix(".parameters())")
    name, _, of = owner.partition(".")
    plain = text == f"next({owner}.parameters())" and all(map(str.isidentifier, owner.split(".")))
    return (f".{of}" if of else "") if plain and name == self_ else None


def _is_asked(parent: ast.AST, parents: dict[int, ast.AST]) -> bool:
    if isinstance(parent, ast.Attribute) and parent.attr == "data":
        return _is_asked(parents[id(parent)], parents)
    return isinstance(parent, ast.Attribute) and parent.attr in _ASKED


def _is_held_to_be_asked(parent: ast.AST, nodes: tuple[ast.AST, ...], parents: dict[int, ast.AST]) -> bool:
    if isinstance(parent, ast.Attribute) and parent.attr == "data":
        parent = parents[id(parent)]
    if not isinstance(parent, ast.Assign) or len(parent.targets) != 1:
        return False
    target = parent.targets[0]
    if not isinstance(target, ast.Name):
        return False
    uses = [n for n in nodes if isinstance(n, ast.Name) and n.id == target.id and n is not target]
    return all(isinstance(n.ctx, ast.Load) and _is_asked(parents[id(n)], parents) for n in uses)
