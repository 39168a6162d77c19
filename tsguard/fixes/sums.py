"""Fixes of Python's ``sum``, which TorchScript has for numbers only: Tensors are stacked and summed."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import around
from tsguard.fixes.composing import unsafe
from tsguard.fixes.edits import between
from tsguard.fixes.imports import torch_imported
from tsguard.fixes.numbers import convert_numbers
from tsguard.fixes.pieces import rewritten
from tsguard.fixes.places import nodes_around
from tsguard.report import Fix

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


def add_tensors(event: Event) -> Fix | None:
    """``sum(f(x) for x in xs)`` of Tensors becomes ``torch.stack([f(x) for x in xs]).sum(0)``.

    Unsafe: eager adds Tensors of different shapes too, and gives 0 where there are none.
    """
    facts, file = event.facts, event.module.file
    if facts.get("function") != "sum" or facts.get("given") != "List[Tensor]":
        return convert_numbers(event)
    calls = [*around(file, event.span, ast.Call), *nodes_around(file, event.span.line)]
    call = next((c for c in calls if isinstance(c, ast.Call) and ast.unparse(c.func) == "sum"), None)
    if call is None or len(call.args) != 1 or call.keywords or isinstance(call.args[0], ast.Starred):
        return None
    torch = torch_imported(event.module, event.span.line)
    text = between(file, file.span(call.args[0]))
    if isinstance(call.args[0], ast.GeneratorExp):
        text = f"[{text[1:-1] if text.startswith('(') and text.endswith(')') else text}]"
    elif isinstance(call.args[0], ast.Call):
        text = f"list({text})"  # Python may have an iterator there
    change = rewritten(file, call, f"torch.stack({text}).sum(0)")
    return unsafe("Stack the Tensors and sum them", torch, change)
