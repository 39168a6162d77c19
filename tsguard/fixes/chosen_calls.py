"""Fixes of modules and functions that a variable is chosen from: each is called where it is chosen."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import removed
from tsguard.fixes.composing import safe
from tsguard.fixes.edits import between
from tsguard.fixes.guards import leave_to_python
from tsguard.fixes.pieces import rewritten
from tsguard.fixes.places import Function, functions_around
from tsguard.report import Fix
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.events import Event

_LOOKED_UP = (ast.Name, ast.Attribute, ast.Constant, ast.Compare, ast.UnaryOp, ast.BoolOp)


@dataclass(frozen=True, slots=True)
class _Choice:
    """``act = self.first if test else self.second``, and the calls of ``act``."""

    statement: ast.Assign
    value: ast.IfExp
    calls: tuple[ast.Call, ...]


def choose_or_leave(event: Event) -> Fix | None:
    """What is chosen is called in each case; what else is no value of TorchScript stays in Python."""
    return call_each(event) or leave_to_python(event)


def call_each(event: Event) -> Fix | None:
    """``act = f if test else g`` goes, and ``act(x)`` becomes ``(f(x) if test else g(x))``."""
    file = event.module.file
    functions = functions_around(file, event.span)
    for choice in _choices(functions[0]) if functions else ():
        places: list[ast.stmt | ast.expr] = [choice.statement, *choice.calls]
        if not any(n.lineno <= event.span.line <= (n.end_lineno or n.lineno) for n in places):
            continue
        sides = [between(file, file.span(side)) for side in (choice.value.body, choice.value.orelse)]
        test = between(file, file.span(choice.value.test))
        edits = [removed(file, choice.statement)]
        for call in choice.calls:
            text = between(file, file.span(call))[len(ast.unparse(call.func)) :]
            edits.append(rewritten(file, call, f"({sides[0]}{text} if {test} else {sides[1]}{text})"))
        name = ast.unparse(choice.statement.targets[0])
        return safe(f"Call what {name} is chosen from", edits)
    return None


def _choices(function: Function) -> Iterator[_Choice]:
    """The variables that are set once, to one of two names by a test of what stays the same, and only called."""
    nodes = [n for part in function.body for n in walked(part)]
    stored = [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    for node in nodes:
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.IfExp):
            continue
        target, value = node.targets[0], node.value
        plain = all(isinstance(side, (ast.Name, ast.Attribute)) for side in (value.body, value.orelse))
        tested = [n for n in ast.walk(value.test) if isinstance(n, ast.expr)]
        if not isinstance(target, ast.Name) or len(node.targets) != 1 or not plain:
            continue
        reads = [n for n in nodes if isinstance(n, ast.Name) and n.id == target.id and n is not target]
        calls = tuple(n for n in nodes if isinstance(n, ast.Call) and n.func in reads)
        same = not any(isinstance(n, ast.Name) and n.id in stored for n in tested)
        inner = any(other is not call and other in ast.walk(call) for call in calls for other in calls)
        looked_up = all(isinstance(n, _LOOKED_UP) for n in tested)
        if stored.count(target.id) == 1 and len(calls) == len(reads) > 0 and same and looked_up and not inner:
            yield _Choice(node, value, calls)
