"""Whether a module, or what it holds, has state: parameters that would get names in the state dict, or a mode."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.places import Function

if TYPE_CHECKING:
    from tsguard.project.modules import Module

_MODULES = frozenset({"nn.Module", "torch.nn.Module", "Module"})


def is_stateless(module: Module, name: str) -> bool:
    """Whether a class is a module of the file that makes no other, and computes in ``train()`` as in ``eval()``."""
    found = [n for n in module.file.tree.body if isinstance(n, ast.ClassDef) and n.name == name]
    if len(found) != 1 or [ast.unparse(b) in _MODULES for b in found[0].bases] != [True]:
        return False
    owner = found[0]
    text = ast.unparse(owner)
    if any(word in text for word in ("Parameter", "register_", "training", "dropout", "Dropout")):
        return False
    for function in (n for n in owner.body if isinstance(n, Function)):
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2][:1].isupper():
                return False
            stored = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
            if stored and function.name != "__init__":
                return False
    return True


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
