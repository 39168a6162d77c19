"""Fixes of keywords: those that ask for what is so anyway are left out."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import around
from tsguard.fixes.composing import safe
from tsguard.fixes.edits import between
from tsguard.fixes.pieces import rewritten
from tsguard.fixes.places import nodes_at
from tsguard.report import Fix

if TYPE_CHECKING:
    from tsguard.analysis.events import Event

# What these are where nobody gives them.
_DEFAULTS = {"requires_grad": "False", "out": "None"}


def drop_default(event: Event) -> Fix | None:
    """``x.new_zeros(2, requires_grad=False)`` becomes ``x.new_zeros(2)``, with True it is called ``.requires_grad_(True)``."""
    file, name = event.module.file, event.facts["keyword"]
    calls = [*nodes_at(file, event.span, ast.Call), *around(file, event.span, ast.Call)]
    call = next((c for c in calls if any(k.arg == name for k in c.keywords)), None)
    given = next((k.value for k in call.keywords if k.arg == name), None) if call is not None else None
    if call is None or given is None:
        return None
    parts: list[ast.expr | ast.keyword] = [*call.args, *(k for k in call.keywords if k.arg != name)]
    kept = ", ".join(between(file, file.span(part)) for part in parts)
    text = f"{between(file, file.span(call.func))}({kept})"
    if ast.unparse(given) != _DEFAULTS.get(name):
        if name != "requires_grad":
            return None
        text += f".requires_grad_({between(file, file.span(given))})"
    return safe(f"Leave {name} out of the call", rewritten(file, call, text))
