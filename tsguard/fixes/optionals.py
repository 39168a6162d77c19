"""Fixes of values that may be None where something is needed: told apart before."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.annotations import allow_none, welcome_none
from tsguard.fixes.blocks import fresh_name, inserted_before, statement_around
from tsguard.fixes.branches import raise_where_nothing_is_returned
from tsguard.fixes.composing import unsafe
from tsguard.fixes.edits import between
from tsguard.fixes.imports import is_of_torch
from tsguard.fixes.pieces import rewritten
from tsguard.fixes.places import functions_around, nodes_around
from tsguard.report import Fix
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


def assert_not_none(event: Event) -> Fix | None:
    """``x + mask`` of an Optional gets ``assert mask is not None`` before it.

    ``self.cache`` is copied to a variable first, because an attribute is not refined.  Unsafe: where eager went on with None, it
    raises now.
    """
    file, value = event.module.file, event.facts["value"]
    if not event.facts["type"].startswith("Optional["):
        return None
    outer = statement_around(file, event.span)
    if outer is None or not functions_around(file, event.span) or not _is_simple(outer):
        return None
    used = [
        n
        for n in nodes_around(file, event.span.line)
        if isinstance(n, ast.expr) and ast.unparse(n) == value and _lies_in(event, n)
    ]
    used = used or [n for n in ast.walk(outer) if isinstance(n, ast.expr) and ast.unparse(n) == value]
    if not used or _asked_within(outer, value) or _is_bound_within(outer, used[0]):
        return None
    if isinstance(used[0], ast.Name):
        before = inserted_before(file, outer, f"assert {value} is not None")
        return unsafe(f"Assert that {value} is not None", before)
    if not isinstance(used[0], ast.Attribute) or _stores(outer, value):
        return None
    name = fresh_name(file, used[0].attr.lstrip("_") or "value")
    before = inserted_before(
        file, outer, f"{name} = {between(file, file.span(used[0]))}", f"assert {name} is not None"
    )
    every = [n for n in ast.walk(outer) if isinstance(n, ast.Attribute) and ast.unparse(n) == value]
    read = [rewritten(file, n, name) for n in every]
    return unsafe(f"Copy {value} and assert that it is not None", before, read)


def allow_or_assert(event: Event) -> Fix | None:
    """A parameter without annotation is declared Optional where it is given what may be None; else that is asserted."""
    allowed = raise_where_nothing_is_returned(event) or allow_none(event) or welcome_none(event)
    if allowed is not None:
        return allowed
    short, argument = event.facts["function"].rpartition(".")[2], event.facts["argument"]
    own = [
        parameter
        for node in walked(event.module.file.tree)
        if isinstance(node, ast.FunctionDef) and node.name == short
        for parameter in node.args.args
        if parameter.arg == argument
    ]
    # What has no annotation may well take None; "input" is what the layers of torch call what they take.
    of_torch = argument == "input" or is_of_torch(event.module, event.facts["function"])
    # Of methods that override one another, one may take None, which the others are not declared to.
    declared = bool(own) and all(parameter.annotation is not None for parameter in own)
    return assert_not_none(event) if declared or (of_torch and not own) else None


def _is_simple(node: ast.stmt) -> bool:
    return isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Expr))


def _lies_in(event: Event, node: ast.expr) -> bool:
    own, span = event.module.file.span(node), event.span
    start, end = (span.line, span.column), (span.end_line, span.end_column)
    return start <= (own.line, own.column) and (own.end_line, own.end_column) <= end


def _asked_within(outer: ast.stmt, value: str) -> bool:
    """Whether the statement itself deals with None: that is where eager goes on with it."""
    choices = [n for n in ast.walk(outer) if isinstance(n, (ast.IfExp, ast.BoolOp))]
    return any(value in ast.unparse(n) for n in choices)


def _is_bound_within(outer: ast.stmt, value: ast.expr) -> bool:
    """Whether a value is made of what only a comprehension or a lambda of the statement has."""
    targets = [n.target for n in ast.walk(outer) if isinstance(n, ast.comprehension)]
    bound = {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
    bound |= {a.arg for n in ast.walk(outer) if isinstance(n, ast.Lambda) for a in n.args.args}
    return any(isinstance(n, ast.Name) and n.id in bound for n in ast.walk(value))


def _stores(outer: ast.stmt, value: str) -> bool:
    return any(
        isinstance(n, ast.Attribute) and not isinstance(n.ctx, ast.Load) and ast.unparse(n) == value
        for n in ast.walk(outer)
    )
