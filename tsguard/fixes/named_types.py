"""Fixes of annotations whose names mean nothing to TorchScript, though what they stand for has a type there."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tsguard.fixes.composing import composed, safe, unsafe
from tsguard.fixes.edits import edit
from tsguard.fixes.imports import imported, is_of_torch
from tsguard.fixes.pieces import rewritten
from tsguard.fixes.places import Function, nodes_around
from tsguard.fixes.spelling import spelled
from tsguard.report import Applicability, Edit, Fix
from tsguard.source import SourceFile, Span
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.events import Event
    from tsguard.project.modules import Module

_GENERIC = {"Sequence": "List", "MutableSequence": "List", "Mapping": "Dict", "MutableMapping": "Dict"}


def name_the_type(event: Event) -> Fix | None:
    """The type that an annotation means: of a function of torch, of a container by its interface, of a Variable."""
    part = event.facts.get("part", "")
    if part == "torch.tensor":
        return _everywhere(event.module, part, "torch.Tensor", (), "safe")
    if part.partition("[")[0].rpartition(".")[2] in _GENERIC and "[" in part:
        return _container(event.module, part.partition("[")[0])
    if part.rpartition(".")[2] == "Variable" and is_of_torch(event.module, part):
        return _meaning(event.module, part, "Tensor")
    if part == "torch.Size":
        return _meaning(event.module, part, "List[int]")
    return _without_return(event, part) if part in ("object", "any", "Any") else None


def _annotations(file: SourceFile) -> list[ast.expr]:
    """What the signatures and variables of a file are annotated with."""
    found: list[ast.expr | None] = []
    for node in walked(file.tree):
        if isinstance(node, Function):
            found.append(node.returns)
        elif isinstance(node, (ast.arg, ast.AnnAssign)):
            found.append(node.annotation)
    return [annotation for annotation in found if annotation is not None]


def _everywhere(
    module: Module, part: str, new: str, imports: tuple[Edit, ...], kind: Applicability
) -> Fix | None:
    """A type by another name in all annotations of the file."""
    nodes = [n for a in _annotations(module.file) for n in ast.walk(a) if isinstance(n, ast.expr)]
    edits = [rewritten(module.file, n, new) for n in nodes if ast.unparse(n) == part]
    return composed(kind, f"Write {new}", imports, edits) if edits else None


def _meaning(module: Module, part: str, type_: str) -> Fix | None:
    nodes = [a for a in _annotations(module.file) if part in ast.unparse(a)]
    written = spelled(type_, module, min((n.lineno for n in nodes), default=1))
    return _everywhere(module, part, written.text, written.edits, "unsafe") if written is not None else None


def _container(module: Module, name: str) -> Fix | None:
    """``Sequence[Tensor]`` becomes ``List[Tensor]``.

    Unsafe: what scripted code passes has to be a list.
    """
    new = _GENERIC[name.rpartition(".")[2]]
    nodes = [n for a in _annotations(module.file) for n in ast.walk(a) if isinstance(n, ast.Subscript)]
    named = [n.value for n in nodes if ast.unparse(n.value) == name]
    imports = imported(module, "typing", [new], min((n.lineno for n in named), default=1))
    edits = [rewritten(module.file, n, new) for n in named]
    return unsafe(f"Write {new}", imports, edits) if edits else None


def _without_return(event: Event, part: str) -> Fix | None:
    """``def forward(self, x) -> object`` goes without: torch tells the type of what is returned by itself."""
    file = event.module.file
    for node in nodes_around(file, event.span.line):
        if isinstance(node, Function) and node.returns is not None and ast.unparse(node.returns) == part:
            last = file.span(node.returns)
            text = file.text[: file.offset(last.line, last.column)]
            start = text.rfind("->")
            begin = len(text[:start].rstrip())
            if start < 0 or text[start + 2 :].strip():
                return None
            line, column = file.position(begin)
            gone = edit(file, Span(line, column, last.end_line, last.end_column), "")
            return safe(f"Leave -> {part} out", gone)
    return None


def write_optional(event: Event) -> Fix | None:
    """``mask: "Tensor | None"`` becomes ``mask: Optional[Tensor]``."""
    file = event.module.file
    texts = [a for a in _annotations(file) if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    for node in (a for a in texts if a.lineno <= event.span.end_line and a.lineno >= event.span.line):
        members = [part.strip() for part in str(node.value).split("|")]
        others = [part for part in members if part != "None"]
        if len(members) == 2 and len(others) == 1:
            imports = imported(event.module, "typing", ["Optional"], node.lineno)
            change = rewritten(file, node, f"Optional[{others[0]}]")
            if imports is not None and change is not None and re.fullmatch(r"[\w.]+", others[0]):
                return unsafe(f"Write Optional[{others[0]}]", imports, change)
    return None
