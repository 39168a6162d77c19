"""Fixes of flags that tell whether a list was given, where TorchScript takes a Tensor: it never compiles their branches."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.annotations import annotate_by_use
from tsguard.fixes.complements import join_complements
from tsguard.fixes.composing import safe
from tsguard.fixes.edits import between
from tsguard.fixes.imports import torch_imported
from tsguard.fixes.pieces import rewritten
from tsguard.fixes.places import Function, functions_around
from tsguard.report import Fix

if TYPE_CHECKING:
    from tsguard.analysis.events import Event

_CONTAINERS = {"tuple", "list", "dict"}


def leave_containers_to_python(event: Event) -> Fix | None:
    """``is_list = isinstance(x, list)`` with ``if is_list:`` becomes ``if not torch.jit.is_scripting() and is_list:``.

    A parameter without annotation is a Tensor to TorchScript, so that the flag is false in compiled code.
    """
    file = event.module.file
    around = functions_around(file, event.span)
    flags = _flags(around[0]) if around else set()
    tests = [
        n.test
        for n in (ast.walk(around[0]) if flags else ())
        if isinstance(n, ast.If) and isinstance(n.test, ast.Name) and n.test.id in flags
    ]
    torch = torch_imported(event.module, event.span.line)
    if not tests:
        return None
    edits = [
        rewritten(file, test, f"not torch.jit.is_scripting() and {between(file, file.span(test))}")
        for test in tests
    ]
    return safe("Leave what takes a list to Python", torch, edits)


def without_flag_or_annotated(event: Event) -> Fix | None:
    """What only a branch for lists asks of a parameter does not tell its type; else see ``annotate_by_use``."""
    return leave_containers_to_python(event) or annotate_by_use(event)


def without_flag_or_joined(event: Event) -> Fix | None:
    """What only a branch for lists defines is left to Python; else see ``join_complements``."""
    return leave_containers_to_python(event) or join_complements(event)


def _flags(function: Function) -> set[str]:
    """The variables that are assigned once, to whether a parameter without annotation is a list."""
    bare = {a.arg for a in function.args.args if a.annotation is None}
    nodes = list(ast.walk(function))
    stored = [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return {
        n.targets[0].id
        for n in nodes
        if isinstance(n, ast.Assign)
        and isinstance(n.targets[0], ast.Name)
        and stored.count(n.targets[0].id) == 1
        and _asks_for_container(n.value, bare)
    }


def _asks_for_container(test: ast.expr, bare: set[str]) -> bool:
    """Whether a test holds for lists, tuples and dicts only, of a parameter without annotation."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return all(_asks_for_container(value, bare) for value in test.values)
    if not isinstance(test, ast.Call) or ast.unparse(test.func) != "isinstance" or len(test.args) != 2:
        return False
    value, kind = test.args
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    named = {ast.unparse(k) for k in kinds}
    return isinstance(value, ast.Name) and value.id in bare and named <= _CONTAINERS
