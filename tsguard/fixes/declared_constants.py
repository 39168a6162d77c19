"""Attributes declared constant: ``Final`` in the class, or in ``__constants__`` where annotations are only text."""

from __future__ import annotations

import ast
import itertools
from typing import TYPE_CHECKING

from tsguard.fixes.composing import together
from tsguard.fixes.edits import indentation, insertion, insertion_above
from tsguard.fixes.imports import imported
from tsguard.report import Edit
from tsguard.source.functions import first_line

if TYPE_CHECKING:
    from tsguard.project.modules import Module

_PLAIN_BASES = frozenset({"Module", "nn.Module", "torch.nn.Module", "object", "ABC"})


def declared_final(
    module: Module, owner: ast.ClassDef, name: str, value: str | None = None, type_: str = "Final"
) -> tuple[Edit, ...] | None:
    """The edits after which torch takes an attribute for a constant.

    Args:
        value: what the class itself is to hold under the name; None where a constructor sets it.
    """
    if are_text(module):
        held = () if value is None else in_class(module, owner, f"{name} = {value}")
        return together(held, listed_constant(module, owner, name))
    final = imported(module, "typing", ["Final"], owner.lineno)
    told = f"{name}: {type_}" if value is None else f"{name}: {type_} = {value}"
    return together(final, in_class(module, owner, told))


def are_text(module: Module) -> bool:
    """Whether ``from __future__ import annotations`` makes text of all annotations, which torch does not read in classes."""
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module == "__future__"
        and any(alias.name == "annotations" for alias in node.names)
        for node in itertools.islice(module.file.tree.body, 10)
    )


def listed_constant(module: Module, owner: ast.ClassDef, name: str) -> Edit | None:
    """The edit that puts a name into the ``__constants__`` of a class; None where it would hide those of a base."""
    for node in owner.body:
        if isinstance(node, ast.Assign) and [ast.unparse(t) for t in node.targets] == ["__constants__"]:
            if not isinstance(node.value, ast.List) or not node.value.elts:
                return None
            if any(isinstance(e, ast.Constant) and e.value == name for e in node.value.elts):
                return None
            last = node.value.elts[-1]
            line, column = last.end_lineno or last.lineno, last.end_col_offset or 0
            return insertion(module.file, line, module.file.column(line, column), f', "{name}"')
    named = {n.name: n for n in module.file.tree.body if isinstance(n, ast.ClassDef)}
    for base in owner.bases:
        above = named.get(ast.unparse(base))
        if above is None and ast.unparse(base) not in _PLAIN_BASES:
            return None
        if above is not None and "__constants__" in ast.unparse(above):
            return None
    return in_class(module, owner, f'__constants__ = ["{name}"]')


def in_class(module: Module, owner: ast.ClassDef, line: str) -> Edit | None:
    """The edit that puts a line at the top of a class, below its docstring."""
    file = module.file
    is_text = isinstance(owner.body[0], ast.Expr) and isinstance(owner.body[0].value, ast.Constant)
    first = owner.body[1] if is_text and len(owner.body) > 1 else owner.body[0]
    start = first_line(first)
    indent = indentation(file.lines[start - 1])
    if start == owner.lineno or not indent:
        return None
    gap = file.newline * (1 if isinstance(first, (ast.AnnAssign, ast.Assign)) else 2)
    return insertion_above(file, first, f"{indent}{line}{gap}")
