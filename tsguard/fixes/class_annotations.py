"""Annotations and constants in the bodies of classes: dropped, declared, made ``Final``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.annotations import OPEN_TYPES, without_annotation
from tsguard.fixes.blocks import class_around
from tsguard.fixes.composing import safe
from tsguard.fixes.declared_constants import are_text, in_class, listed_constant
from tsguard.fixes.edits import edit
from tsguard.fixes.imports import imported
from tsguard.fixes.lazily import cst
from tsguard.fixes.pieces import changed_statement
from tsguard.fixes.places import Function, nodes_around, nodes_at
from tsguard.fixes.relatives import class_definitions, descendants
from tsguard.fixes.spelling import spelled
from tsguard.report import Fix
from tsguard.source import Span
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


def drop_class_annotation(event: Event) -> Fix | None:
    """``scale: SomeType`` in a class body goes; ``scale: SomeType = 2`` becomes ``scale = 2``."""
    owner = class_around(event.module.file, event.span)
    name = event.facts["name"]
    if owner is None or owner.decorator_list:  # which may read it: of a dataclass it is a field
        return None
    for node in owner.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            return without_annotation(event, node)
    return None


def declare_attribute(event: Event) -> Fix | None:
    """``self.state = None`` that becomes a Tensor is declared in the class: ``state: Optional[Tensor]``.

    Heirs with annotations of their own declare it again: torch reads those of the most derived class only.
    """
    file, facts = event.module.file, event.facts
    owners = _declaring(event)
    if not owners or any(part in facts["wanted"] for part in OPEN_TYPES):
        return None
    if any(_declares(owner, facts["name"]) for owner in owners):
        return None
    if any(_stores(heir, facts["name"]) for heir in descendants(file, owners[0])):
        return None  # which may hold something else there
    written = spelled(facts["wanted"], event.module, owners[0].lineno)
    if written is None:
        return None
    made = [in_class(event.module, owner, f"{facts['name']}: {written.text}") for owner in owners]
    return safe(f"Declare {facts['name']} as {facts['wanted']}", written.edits, made)


def _declaring(event: Event) -> list[ast.ClassDef]:
    """The classes in whose bodies torch reads the declaration, the one that assigns the attribute first."""
    file, name = event.module.file, event.facts["owner"]
    around = class_around(file, event.span)
    assigned = next(nodes_at(file, event.span, ast.Attribute), None)
    if around is None or assigned is None or not isinstance(assigned.value, ast.Name):
        named = [owner for owner in class_definitions(file.tree) if owner.name == name]
        return named if len(named) == 1 else []
    heirs = [
        heir for heir in descendants(file, around) if any(isinstance(n, ast.AnnAssign) for n in heir.body)
    ]
    owners = [around, *(heir for heir in heirs if not _declares(heir, event.facts["name"]))]
    return owners if name in {owner.name for owner in owners} else []


def _declares(owner: ast.ClassDef, name: str) -> bool:
    return any(isinstance(n, ast.AnnAssign) and ast.unparse(n.target) == name for n in owner.body)


def _stores(owner: ast.ClassDef, name: str) -> bool:
    """Whether a class assigns an attribute of this name."""
    return any(
        isinstance(n, ast.Attribute) and n.attr == name and isinstance(n.ctx, ast.Store)
        for n in walked(owner)
    )


def make_constant(event: Event) -> Fix | None:
    """``scale = 2`` in a class body becomes ``scale: Final[int] = 2``."""
    file, name = event.module.file, event.facts["name"]
    found = [
        (node, owner)
        for owner in class_definitions(file.tree)
        for node in owner.body
        if isinstance(node, ast.Assign) and [getattr(t, "id", None) for t in node.targets] == [name]
    ]
    if len(found) != 1 or not _is_plain(found[0][0].value):
        return None
    node, owner = found[0]
    if are_text(event.module):
        return safe(f"Declare {name} in __constants__", listed_constant(event.module, owner, name))
    edits = imported(event.module, "typing", ["Final"], node.lineno)

    def change(small: cst.BaseSmallStatement) -> cst.BaseSmallStatement | None:
        if not isinstance(small, cst.Assign):
            return None
        return cst.AnnAssign(small.targets[0].target, cst.Annotation(cst.Name("Final")), small.value)

    return safe(f"Declare {name} as Final", edits, changed_statement(file, node, change))


def _is_plain(node: ast.expr) -> bool:
    if isinstance(node, (ast.Tuple, ast.List)):
        return bool(node.elts) and all(map(_is_plain, node.elts))
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant) and isinstance(inner.value, (int, float, str, bool))


def indent_constructor(event: Event) -> Fix | None:
    """Lines of a constructor that are indented less than its ``def`` are indented as far.

    They are comments, or lie within parentheses: Python does not mind.
    """
    file = event.module.file
    functions = [
        n for n in nodes_around(file, event.span.line) if isinstance(n, Function) and n.name == "__init__"
    ]
    if not functions:
        return None
    function = functions[-1]
    indent = file.lines[function.lineno - 1][: function.col_offset]
    texts = [n for n in ast.walk(function) if isinstance(n, (ast.Constant, ast.JoinedStr))]
    inside = {
        number
        for n in texts
        if (n.end_lineno or n.lineno) > n.lineno
        for number in range(n.lineno + 1, (n.end_lineno or n.lineno) + 1)
    }
    edits = []
    for number in range(function.lineno + 1, (function.end_lineno or function.lineno) + 1):
        line = file.lines[number - 1]
        if line.strip() and not line.startswith(indent):
            if number in inside:
                return None
            edits.append(edit(file, Span(number, 1, number, len(line) - len(line.lstrip()) + 1), indent))
    return safe("Indent these lines", edits)
