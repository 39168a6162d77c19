"""Fixes of calls of einops, whose functions take any number of arguments: methods of the tensor do the same.

This knows einops by name because its patterns are a language of their own, which says what a call does without a look at
its code. No verdict rests on it: that einops does not compile is found in its source, as with any package.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes import einops_patterns as patterns
from tsguard.fixes.blocks import around
from tsguard.fixes.composing import unsafe
from tsguard.fixes.edits import between
from tsguard.fixes.guards import leave_to_python
from tsguard.fixes.imports import has_torch
from tsguard.fixes.pieces import atom, rewritten
from tsguard.fixes.places import nodes_at
from tsguard.report import Fix
from tsguard.source import SourceFile

if TYPE_CHECKING:
    from tsguard.analysis.events import Event
    from tsguard.project.modules import Module


def call_methods(event: Event) -> Fix | None:
    """``rearrange(x, 'b n (h d) -> b h n d', h=8)`` becomes ``x.unflatten(2, (8, -1)).transpose(1, 2)``.

    Unsafe: einops checks the sizes that a pattern names, and these methods do not.
    """
    file = event.module.file
    call = next(nodes_at(file, event.span, ast.Call), None)
    for node in (call, *around(file, event.span, ast.Call)):
        text = in_methods(event.module, node) if node is not None else None
        if node is not None and text is not None:
            return unsafe(f"Write {ast.unparse(node.func)} as methods", rewritten(file, node, text))
    return leave_to_python(event)


def in_methods(module: Module, call: ast.Call) -> str | None:
    """What a call of einops comes to; None for other calls, and for patterns that are not known."""
    name = _name(module, call.func)
    positional = 3 if name == "reduce" else 2
    if name == "einsum":
        return _einsum(module, call)
    if name is None or len(call.args) != positional or any(k.arg is None for k in call.keywords):
        return None
    texts = [a.value for a in call.args[1:] if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    if len(texts) != positional - 1 or isinstance(call.args[0], (ast.List, ast.Tuple, ast.Starred)):
        return None
    file = module.file
    sizes = {k.arg: between(file, file.span(k.value)) for k in call.keywords if k.arg is not None}
    if name == "rearrange":
        methods = patterns.rearranged(texts[0], sizes)
    elif name == "repeat":
        methods = patterns.repeated(texts[0], sizes)
    else:
        methods = patterns.reduced(texts[0], texts[1], sizes)
    return None if methods is None else f"{_receiver(module, file, call.args[0])}{methods}"


def _einsum(module: Module, call: ast.Call) -> str | None:
    """``einsum(q, k, 'b query d, b key d -> b query key')`` as torch has it, with a letter for each axis."""
    *tensors, pattern = call.args
    if (
        call.keywords
        or not tensors
        or not isinstance(pattern, ast.Constant)
        or not isinstance(pattern.value, str)
    ):
        return None
    if any(isinstance(tensor, ast.Starred) for tensor in tensors):
        return None
    written = patterns.einsum_letters(pattern.value, len(tensors))
    if written is None or not has_torch(module):
        return None
    texts = [between(module.file, module.file.span(tensor)) for tensor in tensors]
    return f"torch.einsum({written!r}, {', '.join(texts)})"


def _receiver(module: Module, file: SourceFile, node: ast.expr) -> str:
    inner = in_methods(module, node) if isinstance(node, ast.Call) else None
    return atom(file, node) if inner is None else inner


def _name(module: Module, node: ast.expr) -> str | None:
    """The function of einops that an expression names in a file."""
    written = ast.unparse(node)
    first, _, short = written.partition(".")
    nodes = [binding.node for binding in module.bindings.get(first, [])]
    if not nodes or short.count("."):
        return None
    names = set()
    for statement in nodes:
        if isinstance(statement, ast.ImportFrom) and statement.module == "einops" and not short:
            names |= {alias.name for alias in statement.names if (alias.asname or alias.name) == first}
        elif isinstance(statement, ast.Import) and any(a.name == "einops" for a in statement.names) and short:
            names.add(short)
        else:
            return None
    found = names.pop() if len(names) == 1 else None
    return found if found in ("rearrange", "repeat", "reduce", "einsum") else None
