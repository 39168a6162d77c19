"""Fixes where a variable or an attribute is given its first value."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import replaced_block
from tsguard.fixes.composing import safe, unsafe
from tsguard.fixes.edits import between
from tsguard.fixes.imports import has_torch
from tsguard.fixes.lazily import cst
from tsguard.fixes.pieces import changed_statement
from tsguard.fixes.places import Function, functions_around, nodes_at
from tsguard.fixes.spelling import spelled
from tsguard.report import Fix

if TYPE_CHECKING:
    from tsguard.analysis.events import Event

_EMPTY = frozenset({"[]", "{}", "list()", "dict()"})


def annotate_container(event: Event) -> Fix | None:
    """``sizes = []`` becomes ``sizes: List[float] = []``."""
    return _annotate(event, event.facts["now"], _EMPTY)


def annotate_appended(event: Event) -> Fix | None:
    """``rows, names = [], []`` is written as lists of their own, the one that ints are appended to as ``List[int]``."""
    name, _, method = event.facts["function"].rpartition(".")
    functions = functions_around(event.module.file, event.span)
    if method != "append" or event.facts["argument"] != "el" or not functions:
        return None
    file, type_ = event.module.file, f"List[{event.facts['given']}]"
    assigned = [n for n in _own_nodes(functions[0]) if isinstance(n, ast.Assign)]
    starts = [n for n in assigned if any(t == name for t, _ in _pairs(n))]
    written = spelled(type_, event.module, functions[0].lineno)
    if len(starts) != 1 or written is None:
        return None
    pairs = _pairs(starts[0])
    if any(value not in _EMPTY for _, value in pairs):
        return None
    lines = [f"{t}: {written.text} = {v}\n" if t == name else f"{t} = {v}\n" for t, v in pairs]
    edit = replaced_block(file, starts[0], *lines)
    return safe(f"Annotate {name} as {type_}", written.edits, edit)


def _pairs(node: ast.Assign) -> list[tuple[str, str]]:
    """The targets of an assignment with what each is given, as they are written."""
    target, value = node.targets[0], node.value
    if len(node.targets) != 1:
        return []
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return [(ast.unparse(t), ast.unparse(v)) for t, v in zip(target.elts, value.elts, strict=True)]
    return [(ast.unparse(target), ast.unparse(value))]


def annotate_none(event: Event) -> Fix | None:
    """``total = None`` becomes ``total: Optional[Tensor] = None``."""
    now = event.facts["now"]
    return _annotate(event, now if now.startswith("Optional[") else f"Optional[{now}]", frozenset({"None"}))


def start_with_tensor(event: Event) -> Fix | None:
    """``total = 0`` becomes ``total = torch.tensor(0)``, and ``total += loss`` then ``total = total + loss``.

    A Tensor of one element takes no larger one in place.
    """
    name, file = event.facts["name"], event.module.file
    function, start = _start(event, None)
    if function is None or start is None or not has_torch(event.module):
        return None

    def change(statement: cst.BaseSmallStatement) -> cst.BaseSmallStatement:
        assert isinstance(statement, cst.Assign)
        tensor = cst.Attribute(cst.Name("torch"), cst.Name("tensor"))
        return statement.with_changes(value=cst.Call(tensor, [cst.Arg(statement.value)]))

    added = [
        n for n in _own_nodes(function) if isinstance(n, ast.AugAssign) and ast.unparse(n.target) == name
    ]
    if not all(isinstance(n.op, ast.Add) for n in added):
        return None
    sums = [changed_statement(file, n, _added) for n in added]
    return unsafe(f"Start {name} as a Tensor", changed_statement(file, start, change), sums)


def _added(statement: cst.BaseSmallStatement) -> cst.BaseSmallStatement | None:
    """``total += x`` as ``total = total + x``."""
    if not isinstance(statement, cst.AugAssign):
        return None
    value = statement.value
    loose = isinstance(value, (cst.IfExp, cst.Lambda, cst.BooleanOperation, cst.Comparison, cst.Tuple))
    if loose and not value.lpar:
        value = value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    sum_ = cst.BinaryOperation(statement.target, cst.Add(), value)
    return cst.Assign([cst.AssignTarget(statement.target)], sum_)


def drop_annotation(event: Event) -> Fix | None:
    """``self.n: int = 0`` becomes ``self.n = 0``."""
    node = next(nodes_at(event.module.file, event.span, ast.AnnAssign), None)
    edit = changed_statement(event.module.file, node, _unannotated) if node is not None else None
    return safe(f"Remove the annotation of {event.facts['name']}", edit)


def _unannotated(statement: cst.BaseSmallStatement) -> cst.BaseSmallStatement | None:
    if not isinstance(statement, cst.AnnAssign) or statement.value is None:
        return None
    return cst.Assign([cst.AssignTarget(statement.target)], statement.value)


def _annotate(event: Event, type_: str, values: frozenset[str]) -> Fix | None:
    name = event.facts["name"]
    _, start = _start(event, values)
    written = spelled(type_, event.module, start.lineno) if start is not None else None
    if start is None or written is None:
        return None

    def change(statement: cst.BaseSmallStatement) -> cst.BaseSmallStatement:
        assert isinstance(statement, cst.Assign)
        annotation = cst.Annotation(annotation=cst.parse_expression(written.text))
        return cst.AnnAssign(statement.targets[0].target, annotation, statement.value)

    edit = changed_statement(event.module.file, start, change)
    return safe(f"Annotate {name} as {type_}", written.edits, edit)


def _start(event: Event, values: frozenset[str] | None) -> tuple[Function | None, ast.Assign | None]:
    """The one assignment in the function round a place that gives the variable such a value (None: a number)."""
    around = functions_around(event.module.file, event.span)
    if not around:
        return None, None
    name = event.facts["name"]
    starts = []
    for node in _own_nodes(around[0]):
        if isinstance(node, (ast.Global, ast.Nonlocal)) and name in node.names:
            return around[0], None
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == name:
            return around[0], None
        if isinstance(node, ast.Assign) and any(ast.unparse(target) == name for target in node.targets):
            written = between(event.module.file, event.module.file.span(node.value))
            if _is_number(node.value) if values is None else written in values:
                starts.append(node)
    single = len(starts) == 1 and len(starts[0].targets) == 1
    return around[0], starts[0] if single else None


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def _own_nodes(function: Function) -> Iterator[ast.AST]:
    """The nodes of a function's body, without those of functions and classes in it."""
    pending: list[ast.AST] = [*function.body]
    while pending:
        node = pending.pop()
        if not isinstance(node, (*_DEFINITIONS, ast.Lambda)):
            yield node
            pending += ast.iter_child_nodes(node)


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
