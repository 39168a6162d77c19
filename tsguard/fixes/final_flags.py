"""Flags that a constructor settles are declared ``Final``: torch then compiles the branch that is taken, and no other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsguard.fixes.asked_by_helpers import asks_for_none
from tsguard.fixes.blocks import blocks_of, method_around
from tsguard.fixes.composing import composed
from tsguard.fixes.declared_constants import are_text, declared_final
from tsguard.fixes.imports import imported
from tsguard.fixes.pieces import rewritten
from tsguard.fixes.places import Function, nodes_around
from tsguard.fixes.relatives import ancestry, is_settled
from tsguard.report import Edit, Fix
from tsguard.source import SourceFile
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.events import Event
    from tsguard.project.modules import Module

_PLAIN = (ast.Name, ast.Constant, ast.Compare, ast.Attribute)
_ASKING = frozenset({"bool", "isinstance", "hasattr", "callable", "issubclass"})


def declare_flag(event: Event) -> Fix | None:
    """``if self.learned:`` around what does not fit: the flag is declared ``Final``, and torch compiles one branch.

    The flag is assigned in ``__init__`` only.
    """
    file = event.module.file
    line = int(event.facts.get("line", event.span.line))
    method = method_around(file, event.span)
    if method is None:
        return None
    owner, function = method
    nodes = walked(function) if event.rule == "return-type-mismatch" else nodes_around(file, line)
    tests = [node.test for node in nodes if isinstance(node, (ast.If, ast.IfExp))]
    # What is no value of TorchScript itself is no constant of it.
    tests = [t for t in (*_left_before(file, line), *tests) if ast.unparse(t) != event.facts.get("value")]
    made = (final_flag(event.module, owner, test) for test in reversed(tests))
    return next((fix for fix in made if fix is not None), None)


def _left_before(file: SourceFile, line: int) -> Iterator[ast.expr]:
    """The tests of branches above a line that leave the function, so that nothing is compiled below one that is taken."""
    for outer in nodes_around(file, line):
        for block in blocks_of(outer):
            above = [node for node in block if (node.end_lineno or node.lineno) < line]
            if len(above) < len(block):
                leaving = (n for n in above if isinstance(n, ast.If) and isinstance(n.body[-1], ast.Return))
                yield from (node.test for node in leaving)


def final_flag(module: Module, owner: ast.ClassDef, test: ast.expr) -> Fix | None:
    """The declaration of a flag that a test in a method of a class asks for."""
    classes = ancestry(module.file, owner)
    for name in _flags(test):
        maker = next((c for c in classes if _stores(c, name)), None)
        if maker is None or not all(_is_settled(module, c, name) for c in classes):
            continue
        declared = _declared(module, classes, maker, name)
        # What Python sets later, as DataParallel does in its copies, is not what is scripted.
        later = not is_settled(module.file, maker, name)
        if declared is not None:
            how = "in __constants__" if are_text(module) else "as Final"
            return composed("unsafe" if later else "safe", f"Declare {name} {how}", declared)
    return None


def _declared(
    module: Module, classes: list[ast.ClassDef], maker: ast.ClassDef, name: str
) -> tuple[Edit, ...] | None:
    """The edits that declare a flag, or make the declaration that there is a final one."""
    annotations = [
        n.annotation
        for owner in classes
        for n in owner.body
        if isinstance(n, ast.AnnAssign) and ast.unparse(n.target) == name and n.value is None
    ]
    if not annotations or are_text(module):
        return declared_final(module, maker, name)
    type_ = ast.unparse(annotations[0])
    plain = len(annotations) == 1 and type_ in ("bool", "int", "str", "float")
    final = imported(module, "typing", ["Final"], maker.lineno)
    change = rewritten(module.file, annotations[0], f"Final[{type_}]") if plain else None
    return (*final, change) if final is not None and change is not None else None


def _flags(test: ast.expr) -> Iterator[str]:
    """The attributes of ``self`` whose truth a test asks for."""
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _flags(value)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _flags(test.operand)
    elif isinstance(test, ast.Attribute) and ast.unparse(test.value) == "self":
        yield test.attr


def _stores(owner: ast.ClassDef, name: str) -> list[tuple[str, ast.AST]]:
    """The assignments of a class to an attribute, each with the name of its method."""
    return [
        (method.name, node)
        for method in owner.body
        if isinstance(method, Function)
        for node in walked(method)
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Attribute) and target.attr == name
    ]


def _is_settled(module: Module, owner: ast.ClassDef, name: str) -> bool:
    """Whether a class assigns an attribute where torch compiles nothing, if at all, and it is a flag by its looks."""
    return all(
        method.startswith("__") and isinstance(node, ast.Assign) and _is_flag(module, node.value)
        for method, node in _stores(owner, name)
    )


def _is_flag(module: Module, value: ast.expr) -> bool:
    """Whether a value is a flag by its looks; ``exists(context)`` is one where ``exists`` asks for None."""
    if isinstance(value, ast.BoolOp):
        return all(_is_flag(module, part) for part in value.values)
    if isinstance(value, ast.UnaryOp) and not isinstance(value.op, ast.Not):
        return _is_flag(module, value.operand)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return value.func.id in _ASKING or asks_for_none(module, value.func.id) is not None
    return isinstance(value, (*_PLAIN, ast.UnaryOp))
