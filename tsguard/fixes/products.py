"""Fixes of products of sizes, which Python takes with ``math.prod`` or NumPy."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.composing import unsafe
from tsguard.fixes.conversions import use_math
from tsguard.fixes.edits import between
from tsguard.fixes.guards import leave_to_python
from tsguard.fixes.imports import torch_imported
from tsguard.fixes.pieces import rewritten
from tsguard.fixes.places import nodes_around
from tsguard.report import Fix

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


def multiply_or_leave(event: Event) -> Fix | None:
    """A product of sizes is taken by torch; what else TorchScript cannot compile stays in Python."""
    return _multiply(event) or leave_to_python(event)


def multiply_or_use_math(event: Event) -> Fix | None:
    """A product of sizes is taken by torch; other numbers by ``math``."""
    return _multiply(event) or use_math(event)


def _multiply(event: Event) -> Fix | None:
    """``math.prod(x.shape[1:])`` becomes ``int(torch.tensor(x.shape[1:]).prod())``.

    Unsafe: a trace takes the product for a constant.
    """
    file = event.module.file
    for call in nodes_around(file, event.span.line):
        called = ast.unparse(call.func) if isinstance(call, ast.Call) else ""
        if not isinstance(call, ast.Call) or called not in ("math.prod", "np.prod", "numpy.prod"):
            continue
        if len(call.args) != 1 or call.keywords or not _is_of_sizes(call.args[0]):
            return None
        torch = torch_imported(event.module, event.span.line)
        text = between(file, file.span(call.args[0]))
        change = rewritten(file, call, f"int(torch.tensor({text}).prod())")
        if change is not None and torch is not None:
            return unsafe("Multiply with torch", torch, change)
    return None


def _is_of_sizes(node: ast.expr) -> bool:
    """Whether an expression is some of the sizes of a Tensor, by its looks."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Slice) and _is_of_sizes(node.value)
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr == "size" and not node.args
    return isinstance(node, ast.Attribute) and node.attr == "shape"
