"""Fixes of ``exists(mask)``, a helper that asks for None: TorchScript learns nothing of its answer."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.composing import unsafe
from tsguard.fixes.definitions_elsewhere import defined
from tsguard.fixes.edits import between
from tsguard.fixes.pieces import rewritten
from tsguard.fixes.places import Function, functions_around
from tsguard.report import Edit, Fix

if TYPE_CHECKING:
    from tsguard.analysis.events import Event
    from tsguard.project.modules import Module

_PLAIN = (ast.Name, ast.Attribute)
# What a comparison needs no parentheses in.
_LOOSE = (ast.BoolOp, ast.If, ast.While, ast.IfExp, ast.Assert, ast.Assign, ast.Return, ast.keyword)


def ask_in_place(event: Event) -> Fix | None:
    """``if exists(mask):`` becomes ``if mask is not None:``, all through the function, where ``exists`` asks nothing else.

    Unsafe: who puts another function in the place of the helper is not heard there.
    """
    around = functions_around(event.module.file, event.span)
    if not around:
        return None
    asked = _asked(event.module, around[-1])
    meant = set(event.facts.values())
    if not any(ast.unparse(call.args[0]) in meant for _, call, _ in asked):
        return None
    edits: list[Edit | None] = []
    for parent, call, is_none in asked:
        text = between(event.module.file, event.module.file.span(call.args[0]))
        negated = isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
        test = f"{text} is None" if is_none != negated else f"{text} is not None"
        place = parent if negated and isinstance(parent, ast.expr) else call
        edits.append(
            rewritten(
                event.module.file, place, test if negated or isinstance(parent, _LOOSE) else f"({test})"
            )
        )
    names = ", ".join(dict.fromkeys(ast.unparse(call.func) for _, call, _ in asked))
    return unsafe(f"Ask for None without {names}", edits)


def _asked(module: Module, function: Function) -> list[tuple[ast.AST, ast.Call, bool]]:
    """The calls in a function that do nothing but ask whether a value is None, each below its parent, and for what."""
    tests: dict[str, bool | None] = {}
    found = []
    for parent in ast.walk(function):
        for node in ast.iter_child_nodes(parent):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            if len(node.args) != 1 or node.keywords or not isinstance(node.args[0], _PLAIN):
                continue
            name = node.func.id
            if name not in tests:
                tests[name] = asks_for_none(module, name)
            is_none = tests[name]
            if is_none is not None:
                found.append((parent, node, is_none))
    return found


def asks_for_none(module: Module, name: str) -> bool | None:
    """Whether the function of a name says that its argument is None (True) or is not (False); None where it does something else."""
    found = defined(module, name)
    return _answer(found[1]) if found is not None else None


def _answer(helper: Function) -> bool | None:
    body = helper.body[1:] if ast.get_docstring(helper) is not None else helper.body
    only = body[0] if len(body) == 1 else None
    if not isinstance(only, ast.Return) or only.value is None or len(helper.args.args) != 1:
        return None
    if helper.decorator_list:
        return None
    name = helper.args.args[0].arg
    answers = {f"{name} is None": True, f"{name} is not None": False, f"not {name} is None": False}
    return answers.get(ast.unparse(only.value))
