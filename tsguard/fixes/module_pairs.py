"""Lists of modules within a list: each is taken by its index, for TorchScript unpacks no module into names."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import block_around, fresh_name, method_around, removed, statement_around
from tsguard.fixes.composing import safe
from tsguard.fixes.edits import edit
from tsguard.fixes.pieces import rewritten
from tsguard.fixes.places import Function, functions_around, nodes_around
from tsguard.fixes.relatives import is_settled
from tsguard.report import Fix
from tsguard.source import SourceFile
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


def index_pair(event: Event) -> Fix | None:
    """``for attn, ff in self.layers: x = ff(attn(x))`` becomes ``for layer in self.layers: x = layer[1](layer[0](x))``."""
    file = event.module.file
    loops = [n for n in nodes_around(file, event.span.line) if isinstance(n, ast.For)]
    functions = functions_around(file, event.span)
    if not functions:
        return None
    for loop in reversed(loops):
        target = _pair(loop)
        names = [e.id for e in target.elts if isinstance(e, ast.Name)] if target is not None else []
        if target is None or len(names) != len(target.elts):
            continue
        inside = [n for part in (*loop.body, *loop.orelse) for n in ast.walk(part)]
        uses = [n for n in inside if isinstance(n, ast.Name) and n.id in names]
        everywhere = [n for n in ast.walk(functions[0]) if isinstance(n, ast.Name) and n.id in names]
        # They are read in the loop only.
        if len(everywhere) != len(uses) + len(names) or any(not isinstance(n.ctx, ast.Load) for n in uses):
            continue
        layer = fresh_name(file, "layer")
        taken = [rewritten(file, use, f"{layer}[{names.index(use.id)}]") for use in uses]
        return safe(f"Index {layer}", edit(file, file.span(target), layer), taken)
    return _index_assigned(event)


def _index_assigned(event: Event) -> Fix | None:
    """``attn, ff = layer`` goes, and what reads ``attn`` and ``ff`` reads ``layer[0]`` and ``layer[1]``."""
    file = event.module.file
    functions, node = functions_around(file, event.span), statement_around(file, event.span)
    if not functions or not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return None
    target, layer = node.targets[0], node.value
    if not isinstance(target, ast.Tuple) or not isinstance(layer, (ast.Name, ast.Attribute)):
        return None
    names = [e.id for e in target.elts if isinstance(e, ast.Name)]
    nodes = [n for n in ast.walk(functions[0]) if isinstance(n, ast.Name)]
    uses = [n for n in nodes if n.id in names and n not in target.elts]
    below = {id(n) for part in block_around(file, node) if part.lineno > node.lineno for n in ast.walk(part)}
    if len(names) != len(target.elts) or any(id(n) not in below for n in uses):
        return None
    if _is_set_again(file, functions[0], layer):
        return None
    if any(not isinstance(n.ctx, ast.Load) for n in uses):
        return None
    text = ast.unparse(layer)
    indexed = [rewritten(file, use, f"{text}[{names.index(use.id)}]") for use in uses]
    return safe(f"Index {text}", removed(file, node), indexed)


def _is_set_again(file: SourceFile, function: Function, layer: ast.Name | ast.Attribute) -> bool:
    """Whether what held a module when it was unpacked may hold another when it is indexed."""
    if isinstance(layer, ast.Name):
        given = [n for n in walked(function.args) if isinstance(n, ast.arg) and n.arg == layer.id]
        nodes = [n for n in walked(function) if isinstance(n, ast.Name) and n.id == layer.id]
        return len(given) + sum(isinstance(n.ctx, ast.Store) for n in nodes) > 1
    method = method_around(file, file.span(layer))
    return method is None or not is_settled(file, method[0], layer.attr)


def _pair(loop: ast.For) -> ast.Tuple | None:
    """The names that a loop unpacks a module into."""
    target = loop.target
    if isinstance(loop.iter, ast.Call) and ast.unparse(loop.iter.func) == "enumerate":
        inner = target.elts[1] if isinstance(target, ast.Tuple) and len(target.elts) == 2 else None
        return inner if isinstance(inner, ast.Tuple) else None
    return target if isinstance(target, ast.Tuple) and not isinstance(loop.iter, ast.Call) else None
