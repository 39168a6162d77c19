"""Fixes of reads of a configuration in ``forward``, which TorchScript cannot hold: what is read is kept beside it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import around, inserted_after, method_around, receiver
from tsguard.fixes.composing import unsafe
from tsguard.fixes.constructors import constructor_of
from tsguard.fixes.edits import between
from tsguard.fixes.pieces import rewritten
from tsguard.fixes.places import Function
from tsguard.fixes.relatives import is_set_once
from tsguard.report import Fix
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


def hold_field(event: Event) -> Fix | None:
    """``self.config.width`` in ``forward`` is kept as ``self.config_width`` when the configuration is.

    Unsafe: what another file assigns to the configuration later is not seen.
    """
    file, name = event.module.file, event.facts["name"]
    method = method_around(file, event.span)
    init = constructor_of(method[0]) if method is not None else None
    if method is None or init is None or method[1] is init:
        return None
    owner, function = method
    self_ = receiver(function)
    held = f"{self_}.{name}"
    kept = [
        n for n in init.body if isinstance(n, ast.Assign) and [ast.unparse(t) for t in n.targets] == [held]
    ]
    if len(kept) != 1 or self_ != receiver(init) or not is_set_once(file, owner, kept[0].targets[0]):
        return None
    found: list[ast.Attribute | ast.Subscript] = [
        *around(file, event.span, ast.Attribute),
        *around(file, event.span, ast.Subscript),
    ]
    read = [n for n in found if ast.unparse(n.value) == held and isinstance(n.ctx, ast.Load)]
    if not read or any(c.func is read[0] for c in around(file, event.span, ast.Call)):
        return None
    field = _field(read[0])
    if field is None or may_hold_tensors(owner, held):
        return None
    value = between(file, file.span(read[0]))
    if not _is_always_read(owner, ast.unparse(read[0])):
        # What only some modules read, the configuration of others need not have.
        if isinstance(read[0], ast.Subscript):
            return None
        value = f'getattr({held}, "{field}", None)'
    every = {n.attr for n in walked(owner) if isinstance(n, ast.Attribute) and ast.unparse(n.value) == self_}
    attribute = f"{name}_{field}"
    line = f"{self_}.{attribute} = {value}"
    there = any(ast.unparse(n) == ast.unparse(ast.parse(line)) for n in init.body)
    if attribute in every and not there:
        return None
    change = rewritten(file, read[0], f"{self_}.{attribute}")
    added = () if there else inserted_after(file, kept[0], line)
    return unsafe(f"Keep {name}.{field} as {attribute}", added, change)


def _is_always_read(owner: ast.ClassDef, text: str) -> bool:
    """Whether each call of ``forward`` reads it, whatever it is given."""
    forwards = [n for n in owner.body if isinstance(n, Function) and n.name == "forward"]
    pending: list[ast.AST] = [part for forward in forwards for part in forward.body]
    for node in pending:
        if isinstance(node, ast.expr) and ast.unparse(node) == text:
            return True
        if isinstance(node, (ast.If, ast.IfExp, ast.While)):
            pending.append(node.test)
        elif isinstance(node, ast.For):
            pending.append(node.iter)
        elif isinstance(node, ast.BoolOp):
            pending.append(node.values[0])
        elif not isinstance(node, (ast.Try, ast.Lambda, ast.ListComp, ast.GeneratorExp, Function)):
            pending += ast.iter_child_nodes(node)
        if isinstance(node, ast.If) and any(isinstance(n, ast.Return) for n in ast.walk(node)):
            return False
    return False


def _field(read: ast.Attribute | ast.Subscript) -> str | None:
    """The name of what is read: of an attribute, or of the key that is written there."""
    if isinstance(read, ast.Attribute):
        return read.attr
    key = read.slice.value if isinstance(read.slice, ast.Constant) else None
    return key if isinstance(key, str) and key.isidentifier() else None


# What only Tensors are asked for, of what a configuration may hold too.
_OF_TENSORS = frozenset({"shape", "size", "device", "dtype", "data", "weight", "bias", "parameters", "to"})


def may_hold_tensors(owner: ast.ClassDef, held: str) -> bool:
    """Whether a class uses what it holds as a module or as one of Tensors: calls it or what is in it."""
    nodes = list(ast.walk(owner))
    called = {id(n.func) for n in nodes if isinstance(n, ast.Call)}
    for node in nodes:
        if not isinstance(node, (ast.Attribute, ast.Subscript)):
            continue
        inner: ast.expr = node
        while isinstance(inner, (ast.Attribute, ast.Subscript)) and ast.unparse(inner) != held:
            inner = inner.value
        if not isinstance(inner, ast.Attribute):
            continue
        of_dict = isinstance(node, ast.Attribute) and node.attr in ("get", "items", "keys", "values", "pop")
        if id(node) in called and not of_dict:
            return True
        if isinstance(node, ast.Attribute) and node is not inner and node.attr in _OF_TENSORS:
            return True
    return False
