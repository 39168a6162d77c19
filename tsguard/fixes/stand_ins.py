"""Fixes of variables that not every path defines: they start with a value that no path of eager reads."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import inserted_before
from tsguard.fixes.branches import raise_otherwise
from tsguard.fixes.composing import unsafe
from tsguard.fixes.imports import torch_imported
from tsguard.fixes.places import functions_around
from tsguard.report import Fix

if TYPE_CHECKING:
    from tsguard.analysis.events import Event

_EMPTY = {"Tensor": "torch.zeros(())", "int": "0", "float": "0.0", "bool": "False", "str": '""'}


def raise_or_define(event: Event) -> Fix | None:
    """What is read whatever holds is given an ``else`` that raises; what is not starts with an empty value."""
    return raise_otherwise(event) or _define_first(event)


def _define_first(event: Event) -> Fix | None:
    """``if i == 1: y = x`` in a loop is preceded by ``y = torch.zeros(())``, in front of all that assigns ``y``.

    Unsafe: where nothing assigns it and it is read, eager raised.
    """
    file, name = event.module.file, event.facts["name"]
    functions, value = functions_around(file, event.span), _EMPTY.get(event.facts.get("type", ""))
    if not functions or value is None:
        return None
    function = functions[-1]
    nodes = list(ast.walk(function))
    # Who asks whether there is such a variable would find one.
    if any(isinstance(n, ast.Name) and n.id in ("locals", "vars", "NameError") for n in nodes):
        return None
    if any(isinstance(n, ast.arg) and n.arg == name for n in nodes) or len(functions) > 1:
        return None
    stores = [
        n for n in nodes if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)
    ]
    first = next((part for part in function.body if any(n in stores for n in ast.walk(part))), None)
    if first is None or any(isinstance(n.ctx, ast.Del) for n in stores):
        return None
    torch = torch_imported(event.module, event.span.line) if "torch" in value else ()
    return unsafe(f"Define {name} first", torch, inserted_before(file, first, f"{name} = {value}"))
