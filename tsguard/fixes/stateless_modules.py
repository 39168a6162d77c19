"""Whether instances of a class of the file hold nothing that differs from one to the next: no parameters, no mode."""

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
