"""Which attributes code assigns, once its objects are made and before."""

from __future__ import annotations

import ast

from tsguard.source.private_names import is_private, mangled
from tsguard.source.remembering import remembered
from tsguard.source.walking import children, walked

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
# What assigns attributes whose names are values.
_BY_NAME = frozenset({"setattr", "delattr", "__setattr__", "__delattr__", "__dict__", "vars"})


@remembered(256)
def assigned_later(tree: ast.AST) -> frozenset[str] | None:
    """The names of the attributes that functions other than ``__init__``, and those within it, assign or delete.

    None where they do so under names that the source does not tell.
    """
    names: set[str] = set()
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name):
            if node.id in _BY_NAME:
                return None
            continue
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            pending += [
                inner for inner in walked(node) if inner is not node and isinstance(inner, _FUNCTIONS)
            ]
            continue
        below = children(node)
        if isinstance(node, ast.Attribute):
            if node.attr in _BY_NAME:
                return None
            if not isinstance(node.ctx, ast.Load):
                names.add(node.attr)
        elif isinstance(node, ast.Call):
            name = _set_by_name(node)
            if name is not None:
                names.add(name)
                below = below[1:]
        pending += below
    classes = [node.name for node in walked(tree) if isinstance(node, ast.ClassDef)]
    kept = {mangled(name, cls) for name in names if is_private(name) for cls in classes}
    return frozenset(names | kept)


def _set_by_name(node: ast.Call) -> str | None:
    """``name`` in ``setattr(owner, "name", value)``."""
    if not isinstance(node.func, ast.Name) or len(node.args) < 2:
        return None
    name = node.args[1].value if isinstance(node.args[1], ast.Constant) else None
    return name if node.func.id == "setattr" and isinstance(name, str) else None


@remembered(256)
def switches_gradients(tree: ast.AST) -> bool:
    """Whether code sets ``requires_grad`` of anything, itself or by its method."""
    return any(
        isinstance(node, ast.Attribute)
        and (
            node.attr == "requires_grad_"
            or (node.attr == "requires_grad" and isinstance(node.ctx, ast.Store))
        )
        for node in walked(tree)
    )
