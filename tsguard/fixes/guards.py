"""Fixes of what only Python can do and whose result nobody uses: it stays in Python."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import changed_block, statement_around
from tsguard.fixes.final_flags import declare_flag
from tsguard.fixes.imports import torch_imported
from tsguard.fixes.lazily import cst
from tsguard.report import Fix

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


def leave_to_python(event: Event) -> Fix | None:
    """``self.rnn.flatten_parameters()`` is put under ``if not torch.jit.is_scripting():``.

    Eager does the same; compiled code goes without.  Where the result is used, under a flag of the module, the flag
    is declared ``Final``, and torch does not compile the branch where it is off.
    """
    file = event.module.file
    node = statement_around(file, event.span)
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return declare_flag(event)
    if isinstance(node.value.func, ast.Attribute) and node.value.func.attr.endswith("_"):
        return None  # what changes a Tensor in place is no side matter
    if isinstance(node.value.func, ast.Attribute) and node.value.func.attr in ("append", "extend", "insert"):
        return None

    def change(line: cst.BaseStatement) -> list[cst.BaseStatement] | None:
        if not isinstance(line, cst.SimpleStatementLine):
            return None
        test = cst.parse_expression("not torch.jit.is_scripting()")
        body = line.with_changes(leading_lines=[])
        return [cst.If(test, cst.IndentedBlock([body]), leading_lines=line.leading_lines)]

    torch = torch_imported(event.module, event.span.line)
    edit = changed_block(file, node, change)
    return Fix("unsafe", "Leave it to Python", (*torch, edit)) if edit and torch is not None else None
