"""Fixes of slices that are assigned to, which TorchScript takes of no list: the list is put together anew."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import around
from tsguard.fixes.composing import unsafe
from tsguard.fixes.edits import between
from tsguard.fixes.lazily import cst
from tsguard.fixes.pieces import changed_statement
from tsguard.report import Fix

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


def join_slices(event: Event) -> Fix | None:
    """``sizes[1:] = [1] * n`` becomes ``sizes = sizes[:1] + list([1] * n)``.

    Unsafe: who holds the same list does not see the change.
    """
    file = event.module.file
    found = around(file, event.span, ast.Assign)
    target = found[0].targets[0] if found and len(found[0].targets) == 1 else None
    if not isinstance(target, ast.Subscript) or not isinstance(target.slice, ast.Slice):
        return None
    if not isinstance(target.value, ast.Name) or target.slice.step is not None:
        return None
    name, value = target.value.id, found[0].value
    text = between(file, file.span(value))
    parts = [text if isinstance(value, ast.List) else f"list({text})"]
    if target.slice.lower is not None:
        parts.insert(0, f"{name}[:{between(file, file.span(target.slice.lower))}]")
    if target.slice.upper is not None:
        parts.append(f"{name}[{between(file, file.span(target.slice.upper))}:]")

    def change(line: cst.BaseSmallStatement) -> cst.BaseSmallStatement | None:
        if not isinstance(line, cst.Assign):
            return None
        whole = line.targets[0].with_changes(target=cst.Name(name))
        return line.with_changes(targets=[whole], value=cst.parse_expression(" + ".join(parts)))

    return unsafe(f"Put {name} together anew", changed_statement(file, found[0], change))
