"""Fixes of ``if self.act:`` where the attribute is a function or None, which TorchScript compares with nothing."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import inserted_after, method_around
from tsguard.fixes.composing import unsafe
from tsguard.fixes.constructors import constructor_of
from tsguard.fixes.declared_constants import declared_final
from tsguard.fixes.expressions import is_condition
from tsguard.fixes.pieces import rewritten
from tsguard.fixes.places import nodes_around
from tsguard.fixes.relatives import is_set_once
from tsguard.report import Fix

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


def ask_flag(event: Event) -> Fix | None:
    """``if self.act is not None:`` becomes ``if self.has_act:``, a flag that ``__init__`` settles.

    Unsafe: who sets the attribute from another file is not heard.
    """
    file, method = event.module.file, method_around(event.module.file, event.span)
    held = event.facts.get("value", "")
    if method is None or not held.startswith("self.") or not held.removeprefix("self.").isidentifier():
        return None
    owner, flag = method[0], f"has_{held.removeprefix('self.')}"
    nodes = list(ast.walk(owner))
    if any(isinstance(n, ast.Attribute) and n.attr == flag for n in nodes):
        return None
    init = constructor_of(owner)
    stores = [
        (node, target)
        for node in (init.body if init is not None else ())
        if isinstance(node, ast.Assign)
        for target in node.targets
        if ast.unparse(target) == held
    ]
    if len(stores) != 1 or not is_set_once(file, owner, stores[0][1]):
        return None
    parents = {id(child): node for node in nodes for child in ast.iter_child_nodes(node)}
    changes = []
    for node in nodes_around(file, event.span.line):
        asked = _asked(node, held, parents)
        if asked is not None and isinstance(node, ast.expr):
            changes.append(rewritten(file, node, f"self.{flag}" if asked else f"not self.{flag}"))
    declared = declared_final(event.module, owner, flag, type_="Final[bool]")
    settled = inserted_after(file, stores[0][0], f"self.{flag} = {held} is not None")
    return unsafe(f"Settle whether there is {held}", declared, settled, changes) if changes else None


def _asked(node: ast.AST, held: str, parents: dict[int, ast.AST]) -> bool | None:
    """Whether an expression holds where the attribute is there, or where it is not; None for what asks no such thing."""
    text = ast.unparse(node)
    if isinstance(node, ast.Attribute) and text == held and is_condition(node, parents):
        return True
    if isinstance(node, ast.Compare) and text in (f"{held} is not None", f"{held} is None"):
        return text.endswith("not None")
    return None
