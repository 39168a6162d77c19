"""Fixes of ``f(**self.options)``, where the constructor writes the dict: its items become attributes that are passed by name."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import class_around, inserted_after
from tsguard.fixes.edits import edit
from tsguard.fixes.places import Function
from tsguard.fixes.unpacked_keywords import items_of, pass_by_name
from tsguard.report import Fix

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


def pass_held_by_name(event: Event) -> Fix | None:
    """A dict of the function's own, or of its module's constructor, is passed item by item."""
    return pass_by_name(event) or _pass_attribute(event)


def _pass_attribute(event: Event) -> Fix | None:
    """``self.options = dict(dim=-1)`` is followed by ``self.options_dim = -1``, and ``f(x, dim=self.options_dim)`` takes that.

    Unsafe: who changes the dict from outside is not heard any more.
    """
    file, held = event.module.file, event.facts["value"]
    owner = class_around(file, event.span)
    if owner is None or not held.startswith("self.") or not held.removeprefix("self.").isidentifier():
        return None
    inits = [n for n in owner.body if isinstance(n, Function) and n.name == "__init__"]
    nodes = list(ast.walk(owner))
    uses = [n for n in nodes if isinstance(n, ast.Attribute) and ast.unparse(n) == held]
    makers = [n for init in inits for n in init.body if isinstance(n, ast.Assign) and n.targets[0] in uses]
    items = items_of(makers[0].value) if len(makers) == 1 and len(makers[0].targets) == 1 else None
    passed = [
        k for n in nodes if isinstance(n, ast.Call) for k in n.keywords if k.arg is None and k.value in uses
    ]
    read = {id(n.value) for n in nodes if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Load)}
    others = (
        [n for n in uses if n not in makers[0].targets and n not in [k.value for k in passed]]
        if makers
        else uses
    )
    if not items or any(id(n) not in read for n in others):
        return None
    names = {key: f"{held}_{key}" for key in items}
    if set(names.values()) & {ast.unparse(n) for n in nodes if isinstance(n, ast.Attribute)}:
        return None
    lines = [f'{name} = {held}["{key}"]' for key, name in names.items()]
    text = ", ".join(f"{key}={name}" for key, name in names.items())
    edits = [inserted_after(file, makers[0], *lines)]
    edits += [edit(file, file.span(keyword), text) for keyword in passed]
    made = tuple(e for e in edits if e is not None)
    return Fix("unsafe", f"Pass what {held} holds by name", made) if len(made) == len(edits) else None
