"""Fixes of context managers that choose how something is computed, and not what: compiled code goes without them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import changed_block
from tsguard.fixes.composing import unsafe
from tsguard.fixes.imports import torch_imported
from tsguard.fixes.lazily import cst
from tsguard.fixes.places import nodes_around
from tsguard.report import Fix

if TYPE_CHECKING:
    from tsguard.analysis.events import Event

# Which kernel is run, which warnings are shown.
_BESIDE = frozenset({"sdpa_kernel", "sdp_kernel", "catch_warnings"})


def enter_in_python(event: Event) -> Fix | None:
    """``with sdpa_kernel(...): body`` becomes ``if torch.jit.is_scripting(): body``, ``else: with sdpa_kernel(...): body``."""
    file = event.module.file
    for node in nodes_around(file, event.span.line):
        if not isinstance(node, ast.With) or node.lineno != event.span.line or len(node.items) != 1:
            continue
        manager = node.items[0]
        called = manager.context_expr.func if isinstance(manager.context_expr, ast.Call) else None
        if called is None or manager.optional_vars is not None:
            continue
        if ast.unparse(called).rpartition(".")[2] not in _BESIDE:
            continue
        torch = torch_imported(event.module, event.span.line)
        return unsafe("Enter it in Python only", torch, changed_block(file, node, cst.With, _under_test))
    return None


def _under_test(block: cst.With) -> cst.BaseStatement:
    test = cst.parse_expression("torch.jit.is_scripting()")
    inner = cst.IndentedBlock([block.with_changes(leading_lines=[])])
    plain = block.body.deep_clone()
    return cst.If(test, plain, cst.Else(inner), leading_lines=block.leading_lines)
