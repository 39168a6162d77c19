"""Whether a module has state: parameters that would get names in the state dict, or a mode."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.places import Function
from tsguard.fixes.relatives import relatives
from tsguard.source import SourceFile
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.project.modules import Module

_MODULES = frozenset({"nn.Module", "torch.nn.Module", "Module"})


def is_stateless(module: Module, name: str) -> bool:
    """Whether a class is a module of the file that makes nothing but numbers, and computes in ``train()`` as in ``eval()``."""
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
            if function.name == "__init__" and isinstance(node, ast.Assign) and not _is_number(node.value):
                return False
    return True


def _is_number(value: ast.expr) -> bool:
    """Whether a value is computed of literals and arguments, by nothing that may come out otherwise another time."""
    kinds = (ast.Call, ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
    return not any(isinstance(n, kinds) and not _is_cast(n) for n in ast.walk(value))


def _is_cast(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in ("int", "float", "bool", "str", "tuple")


def asks_for_submodules(file: SourceFile, owner: ast.ClassDef) -> bool:
    """Whether a class goes through its submodules, so that one more is one too many."""
    kin = relatives(file, owner)
    bases = {ast.unparse(base).rpartition(".")[2] for c in kin for base in c.bases}
    asked = {"children", "named_children", "modules", "named_modules", "_modules"}
    read = {n.attr for c in kin for n in walked(c) if isinstance(n, ast.Attribute)}
    return bool(bases & {"Sequential", "ModuleList", "ModuleDict"} or asked & read)
