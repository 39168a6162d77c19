"""A ScriptModule becomes a plain module, and what is made of it is scripted where it is made."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import class_around
from tsguard.fixes.composing import unsafe
from tsguard.fixes.edits import between, edit
from tsguard.fixes.imports import has_torch, is_of_torch
from tsguard.fixes.pieces import rewritten
from tsguard.fixes.places import Function
from tsguard.report import Edit, Fix
from tsguard.source import SourceFile, Span

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


def make_plain(event: Event) -> Fix | None:
    """``class Net(torch.jit.ScriptModule)`` derives from ``nn.Module``, ``Net()`` becomes ``torch.jit.script(Net())``.

    ``@torch.jit.script_method`` goes from ``forward``, other methods are exported.  Unsafe: modules that are made in
    other files are not scripted any more.
    """
    file = event.module.file
    owner = class_around(file, event.span)
    bases = [b for b in owner.bases if _ends(b) == "ScriptModule"] if owner is not None else []
    if owner is None or len(bases) != 1 or not has_torch(event.module):
        return None
    short = "nn" in event.module.bindings and is_of_torch(event.module, "nn")
    edits = [rewritten(file, bases[0], "nn.Module" if short else "torch.nn.Module")]
    for method in owner.body:
        if not isinstance(method, Function):
            continue
        for decorator in method.decorator_list:
            if _ends(decorator) == "script_method":
                exported = method.name != "forward"
                edits.append(
                    rewritten(file, decorator, "torch.jit.export") if exported else _gone(file, decorator)
                )
    for call in (n for n in ast.walk(file.tree) if isinstance(n, ast.Call)):
        if isinstance(call.func, ast.Name) and call.func.id == owner.name:
            edits.append(rewritten(file, call, f"torch.jit.script({between(file, file.span(call))})"))
    return unsafe(f"Make {owner.name} a plain module, and script what is made of it", edits)


def _ends(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]


def _gone(file: SourceFile, decorator: ast.expr) -> Edit | None:
    """The edit that takes a decorator away with its line."""
    line = decorator.lineno
    return edit(file, Span(line, 1, line + 1, 1), "") if line == decorator.end_lineno else None
