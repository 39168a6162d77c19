"""Fixes of globals that compiled code cannot read: their values, or attributes that hold them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import method_around, receiver
from tsguard.fixes.composing import safe
from tsguard.fixes.declared_constants import declared_final
from tsguard.fixes.imports import module_imported
from tsguard.fixes.numbers import numbers_in
from tsguard.fixes.pieces import rewritten
from tsguard.fixes.places import nodes_at
from tsguard.fixes.relatives import relatives
from tsguard.language.tables import tables
from tsguard.report import Fix
from tsguard.source.statements import statements
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


def hold_global(event: Event) -> Fix | None:
    """A global number is written out in a function; in a method it becomes a constant of the class.

    The global must be assigned once, a number, a text or a device; one that is imported is held by classes only.
    """
    file, name = event.module.file, event.facts["name"]
    node = next((n for n in nodes_at(file, event.span, ast.Name) if n.id == name), None)
    value = _value(event, name)
    if node is not None and _is_of_math(event, name):
        edits = module_imported(event.module, "math", event.span.line)
        return safe(f"Write math.{name}", edits, rewritten(file, node, f"math.{name}"))
    method = method_around(file, event.span)
    if node is None or (value is None and (method is None or not _is_imported_number(event, name))):
        return None
    if method is None and isinstance(value, (ast.Call, ast.Attribute)):
        return None
    if method is None:
        edit = rewritten(file, node, _as_operand(value)) if value is not None else None
        return safe(f"Write {name} out", edit)
    owner, function = method
    if not _is_free(event, owner, name):
        return None
    declared = declared_final(event.module, owner, name, name)
    read = rewritten(file, node, f"{receiver(function)}.{name}")
    return safe(f"Hold {name} in the class", declared, read)


def _as_operand(value: ast.expr) -> str:
    """A value as it can stand beside any operator: a negative number binds weaker than some."""
    text = ast.unparse(value)
    return f"({text})" if isinstance(value, (ast.UnaryOp, ast.BinOp)) else text


def _is_free(event: Event, owner: ast.ClassDef, name: str) -> bool:
    """Whether the class may hold the global under its name: it is known by then, and nothing else has the name."""
    file, above = event.module.file, event.module.bindings[name][0].node
    kin = relatives(file, owner)
    if (
        owner not in file.tree.body
        or above.lineno > owner.lineno
        or name in {*tables().module_members, "training"}
    ):
        return False
    if any(_binds(part, name) for c in kin for part in c.body):
        return False
    held = any(_holds(part, name) for part in owner.body)
    read = (n for c in kin for n in walked(c) if isinstance(n, ast.Attribute) and n.attr == name)
    return held or not any(True for _ in read)


def _is_imported_number(event: Event, name: str) -> bool:
    """Whether a number or a text comes from another file, by one import."""
    nodes = [binding.node for binding in event.module.bindings.get(name, [])]
    plain = event.facts.get("kind") in ("an int", "a float", "a bool", "a str")
    return plain and len(nodes) == 1 and isinstance(nodes[0], ast.ImportFrom)


def _is_of_math(event: Event, name: str) -> bool:
    """Whether a name is a constant imported from math."""
    nodes = [binding.node for binding in event.module.bindings.get(name, [])]
    return bool(nodes) and all(
        isinstance(node, ast.ImportFrom)
        and node.module == "math"
        and any((a.name, a.asname) == (name, None) for a in node.names)
        for node in nodes
    )


def _value(event: Event, name: str) -> ast.expr | None:
    """The literal that a global is assigned once; None for what is made otherwise."""
    bindings = event.module.bindings.get(name, [])
    if len(bindings) != 1 or bindings[0].guard:
        return None
    node = bindings[0].node
    value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
    inner = value.operand if isinstance(value, ast.UnaryOp) else value
    if any(isinstance(n, ast.Global) and name in n.names for n in statements(event.module.file.tree)):
        return None
    is_plain = isinstance(inner, ast.Constant) and isinstance(inner.value, (int, float, str, bool))
    made = ast.unparse(value.func) == "torch.device" if isinstance(value, ast.Call) else False
    is_dtype = isinstance(value, ast.Attribute) and ast.unparse(value.value) == "torch"
    kinds = numbers_in(value) if isinstance(value, (ast.List, ast.Tuple)) else set()
    is_list = len(kinds) == 1 and kinds != {object} and not _is_more(event, name)
    return value if is_plain or made or is_dtype or is_list else None


def _is_more(event: Event, name: str) -> bool:
    """Whether the file does more with a list than to go through it: calls a method, takes or sets an item."""
    nodes = [n for n in walked(event.module.file.tree) if isinstance(n, (ast.Attribute, ast.Subscript))]
    return any(ast.unparse(n.value) == name for n in nodes)


def _binds(node: ast.stmt, name: str) -> bool:
    """Whether a statement of a class body gives the name a meaning of its own there."""
    targets = getattr(node, "targets", [getattr(node, "target", None)])
    names = [t.id for t in targets if isinstance(t, ast.Name)]
    return (name in names or getattr(node, "name", None) == name) and not _holds(node, name)


def _holds(node: ast.stmt, name: str) -> bool:
    """Whether a statement is what another fix of the same global puts into the class."""
    value = node.value if isinstance(node, (ast.AnnAssign, ast.Assign)) else None
    return isinstance(value, ast.Name) and value.id == name
