"""How a type is written in a file: with the names that it imports, or with new imports."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsguard.fixes.imports import has_torch, imported
from tsguard.fixes.places import nodes_around
from tsguard.project.bindings import bindings
from tsguard.report import Edit

if TYPE_CHECKING:
    from tsguard.project.modules import Module

_BUILT_IN = frozenset({"int", "float", "bool", "str", "complex"})
_TYPING = frozenset({"List", "Dict", "Tuple", "Optional"})


@dataclass(frozen=True, slots=True)
class Spelled:
    """A type as a file writes it, and the imports that this needs."""

    text: str
    edits: tuple[Edit, ...] = ()


def spelled(type_: str, module: Module, line: int) -> Spelled | None:
    """Write a type, given as torch prints it, at a line; None where it has no name there."""
    if type_ == "torch.dtype":
        return Spelled(type_) if has_torch(module) and "torch" not in _of_class(module, line) else None
    tree = _parsed(type_)
    nodes = list(ast.walk(tree)) if tree is not None else []
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    # Of what the source leaves open, torch's name is "...".
    plain = all(isinstance(node, (ast.Name, ast.Subscript, ast.Tuple, ast.Load)) for node in nodes)
    if tree is None or not plain or not names <= _BUILT_IN | _TYPING | {"Tensor"}:
        return None
    if any(name in module.bindings for name in names & _BUILT_IN):
        return None
    if _of_class(module, line) & (names | {"torch"} if "Tensor" in names else names):
        return None
    edits = imported(module, "typing", sorted(names & _TYPING), line)
    if edits is None:
        return None
    if "Tensor" not in names:
        return Spelled(type_, edits)
    if imported(module, "torch", ["Tensor"], line) == ():
        return Spelled(type_, edits)
    if has_torch(module):
        for node in nodes:
            if isinstance(node, ast.Name) and node.id == "Tensor":
                node.id = "torch.Tensor"
        return Spelled(ast.unparse(tree), edits)
    more = imported(module, "torch", ["Tensor"], line)
    return None if more is None else Spelled(type_, (*edits, *more))


def _of_class(module: Module, line: int) -> set[str]:
    """The names that the class around a line gives a meaning to, in which its annotations are evaluated."""
    around = [node for node in nodes_around(module.file, line) if isinstance(node, ast.ClassDef)]
    return set(bindings(around[-1].body)) if around else set()


def _parsed(type_: str) -> ast.expr | None:
    try:
        return ast.parse(type_, mode="eval").body
    except SyntaxError:
        return None
