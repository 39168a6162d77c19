"""Fixes of questions about the machine, which TorchScript cannot ask: the constructor asks them once."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import fresh_name, method_around, receiver
from tsguard.fixes.composing import unsafe
from tsguard.fixes.constructors import constructor_of, held_first
from tsguard.fixes.pieces import rewritten
from tsguard.fixes.places import nodes_around
from tsguard.fixes.products import multiply_or_leave
from tsguard.report import Fix

if TYPE_CHECKING:
    from tsguard.analysis.events import Event

_ASKED = frozenset({"torch.cuda.is_available", "torch.cuda.device_count", "torch.backends.mps.is_available"})


def hold_or_leave(event: Event) -> Fix | None:
    """An answer is held by the module; what else does not compile is multiplied out or left to Python."""
    return _hold(event) or multiply_or_leave(event)


def _hold(event: Event) -> Fix | None:
    """``if torch.cuda.is_available():`` becomes ``if self.is_available:``, which ``__init__`` asks for.

    Unsafe: the answer is that of the machine where the module was made.
    """
    file, method = event.module.file, method_around(event.module.file, event.span)
    calls = [
        n
        for n in nodes_around(file, event.span.line)
        if isinstance(n, ast.Call) and ast.unparse(n.func) in _ASKED and not n.args and not n.keywords
    ]
    if method is None or not calls:
        return None
    owner, function = method
    init = constructor_of(owner)
    if init is None or init is function:
        return None
    asked = ast.unparse(calls[0])
    name = fresh_name(file, asked.removesuffix("()").replace("torch.", "").replace(".", "_"))
    held = held_first(file, owner, f"{receiver(init)}.{name} = {asked}")
    same = [n for n in ast.walk(function) if isinstance(n, ast.Call) and ast.unparse(n) == asked]
    read = [rewritten(file, call, f"{receiver(function)}.{name}") for call in same]
    return unsafe(f"Ask {asked} in __init__", held, read)
