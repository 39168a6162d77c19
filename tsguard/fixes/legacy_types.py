"""Fixes of ``x.type(torch.FloatTensor)``: the types of Tensors that stand for a device and a dtype."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.chosen_calls import choose_or_leave
from tsguard.fixes.composing import safe
from tsguard.fixes.imports import is_of_torch
from tsguard.fixes.pieces import atom, rewritten
from tsguard.fixes.places import nodes_around
from tsguard.fixes.settled_functions import ask_flag
from tsguard.fixes.type_tests import ask_isinstance
from tsguard.language.legacy_types import LEGACY_TYPES
from tsguard.report import Fix

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


def convert_or_choose(event: Event) -> Fix | None:
    """What is no value of TorchScript is written as one, asked for by a flag, called where it is chosen, or left to Python."""
    return _convert(event) or ask_isinstance(event) or ask_flag(event) or choose_or_leave(event)


def _convert(event: Event) -> Fix | None:
    """``x.type(torch.cuda.FloatTensor)`` becomes ``x.to(device="cuda", dtype=torch.float32)``."""
    file = event.module.file
    for call in nodes_around(file, event.span.line):
        if not isinstance(call, ast.Call) or len(call.args) != 1 or call.keywords:
            continue
        kind = ast.unparse(call.args[0])
        dtype = LEGACY_TYPES.get(kind.rpartition(".")[2])
        called = call.func
        if not isinstance(called, ast.Attribute) or called.attr != "type" or dtype is None:
            continue
        if kind.rpartition(".")[0] not in ("torch", "torch.cuda") or not is_of_torch(event.module, kind):
            continue
        device = "cuda" if kind.startswith("torch.cuda.") else "cpu"
        text = f'{atom(file, called.value)}.to(device="{device}", dtype=torch.{dtype})'
        return safe(f"Write {kind} as a device and a dtype", rewritten(file, call, text))
    return None
