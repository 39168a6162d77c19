"""Fixes of lambdas: written out where they are called, or as functions."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import around, fresh_name, inserted_before, removed, statement_around, step_of
from tsguard.fixes.composing import safe, unsafe
from tsguard.fixes.edits import between, edit
from tsguard.fixes.pieces import rewritten
from tsguard.fixes.places import functions_around, nodes_at
from tsguard.report import Edit, Fix
from tsguard.source import SourceFile

if TYPE_CHECKING:
    from tsguard.analysis.events import Event

_PLAIN = (ast.Name, ast.Attribute, ast.Subscript)
_ATOMS = (*_PLAIN, ast.Call, ast.Constant)


def do_without_lambda(event: Event) -> Fix | None:
    """What a lambda does is written where it is called, or in a function of the module."""
    return list_map(event) or write_out_map(event) or _write_out_calls(event) or _define(event)


def list_map(event: Event) -> Fix | None:
    """``list(map(torch.relu, xs))`` becomes ``[torch.relu(item) for item in xs]``."""
    file = event.module.file
    for outer in around(file, event.span, ast.Call):
        inner = outer.args[0] if len(outer.args) == 1 and not outer.keywords else None
        if not isinstance(inner, ast.Call) or ast.unparse(outer.func) not in ("list", "tuple", "sum"):
            continue
        if ast.unparse(inner.func) != "map" or len(inner.args) != 2 or inner.keywords:
            continue
        name = fresh_name(file, "item")
        result = _applied(file, inner.args[0], name)
        if result is None or any(isinstance(n, (ast.Await, ast.Yield)) for n in ast.walk(outer)):
            return None
        text = f"[{result} for {name} in {between(file, file.span(inner.args[1]))}]"
        kind = ast.unparse(outer.func)
        change = rewritten(file, outer, text if kind == "list" else f"{kind}({text})")
        return safe("Write the map as a comprehension", change)
    return None


def write_out_map(event: Event) -> Fix | None:
    """``q, k = map(lambda t: t + 1, qk)`` becomes ``q, k = qk[0] + 1, qk[1] + 1``.

    Unsafe: where there is more or less to map than names, Python raises and this may not.
    """
    file = event.module.file
    calls = around(file, event.span, ast.Call)
    call = next((c for c in calls if isinstance(c.func, ast.Name) and c.func.id == "map"), None)
    outer = statement_around(file, event.span)
    if call is None or len(call.args) != 2 or call.keywords or not isinstance(outer, ast.Assign):
        return None
    target = outer.targets[0]
    if outer.value is not call or len(outer.targets) != 1 or not isinstance(target, (ast.Tuple, ast.List)):
        return None
    if any(isinstance(e, ast.Starred) for e in target.elts):
        return None
    mapped = call.args[1]
    before: Edit | tuple[()] | None = ()
    items = _items(file, mapped, len(target.elts))
    if items is None and isinstance(mapped, ast.Call):
        name = fresh_name(file, "parts")
        before = inserted_before(file, outer, f"{name} = {between(file, file.span(mapped))}")
        items = [f"{name}[{index}]" for index in range(len(target.elts))] if before is not None else None
    texts = [_applied(file, call.args[0], item) for item in items] if items is not None else [None]
    if not all(texts):
        return None
    change = rewritten(file, call, ", ".join(text for text in texts if text is not None))
    return unsafe("Write the map out", before, change)


def _items(file: SourceFile, node: ast.expr, count: int) -> list[str] | None:
    """The expressions for what is mapped."""
    if isinstance(node, (ast.Tuple, ast.List)):
        plain = len(node.elts) == count and not any(isinstance(e, ast.Starred) for e in node.elts)
        return [between(file, file.span(e)) for e in node.elts] if plain else None
    text = between(file, file.span(node))
    return [f"{text}[{index}]" for index in range(count)] if isinstance(node, _PLAIN) else None


def _applied(file: SourceFile, function: ast.expr, item: str) -> str | None:
    """The result of a function for one of the items, as an expression."""
    if isinstance(function, (ast.Name, ast.Attribute)):
        return f"{between(file, file.span(function))}({item})"
    return _body(file, function, [item]) if isinstance(function, ast.Lambda) else None


def _body(file: SourceFile, function: ast.Lambda, given: Sequence[str]) -> str | None:
    """The body of a lambda with expressions in the place of its parameters; none is evaluated twice."""
    args, body = function.args, function.body
    names = [a.arg for a in args.args]
    if args.vararg or args.kwarg or args.kwonlyargs or args.posonlyargs or args.defaults:
        return None
    if len(names) != len(given) or any(
        isinstance(n, (ast.Lambda, ast.comprehension, ast.NamedExpr)) for n in ast.walk(body)
    ):
        return None
    values = dict(zip(names, given, strict=True))
    uses = [n for n in ast.walk(body) if isinstance(n, ast.Name) and n.id in values]
    trees = {name: ast.parse(text, mode="eval").body for name, text in values.items()}
    if any(
        sum(n.id == name for n in uses) != 1 and not isinstance(tree, _PLAIN) for name, tree in trees.items()
    ):
        return None
    text, start = between(file, file.span(body)), _offset(file, body)
    for use in sorted(uses, key=lambda n: (n.lineno, n.col_offset), reverse=True):
        at = _offset(file, use) - start
        new = values[use.id] if isinstance(trees[use.id], _ATOMS) else f"({values[use.id]})"
        text = f"{text[:at]}{new}{text[at + len(use.id) :]}"
    return text


def _offset(file: SourceFile, node: ast.expr) -> int:
    return file.offset(node.lineno, file.column(node.lineno, node.col_offset))


def _write_out_calls(event: Event) -> Fix | None:
    """``double = lambda t: 2 * t`` in a function goes, and ``double(x)`` becomes ``(2 * x)``.

    Unsafe: names in the body may have other values by then.
    """
    file = event.module.file
    functions = functions_around(file, event.span)
    outer = statement_around(file, event.span)
    if not functions or not isinstance(outer, ast.Assign) or not isinstance(outer.value, ast.Lambda):
        return None
    target = outer.targets[0]
    if len(outer.targets) != 1 or not isinstance(target, ast.Name):
        return None
    uses = [n for n in ast.walk(functions[0]) if isinstance(n, ast.Name) and n.id == target.id]
    calls = [
        n for n in ast.walk(functions[0]) if isinstance(n, ast.Call) and any(n.func is use for use in uses)
    ]
    gone = removed(file, outer)
    if len(calls) != len(uses) - 1 or any(c.keywords for c in calls):
        return None
    if any(inner in calls for call in calls for part in call.args for inner in ast.walk(part)):
        return None  # one within another would have to be written out twice
    edits = [gone]
    for call in calls:
        text = _body(file, outer.value, [between(file, file.span(a)) for a in call.args])
        edits.append(rewritten(file, call, f"({text})") if text is not None else None)
    return unsafe(f"Write {target.id} out", edits)


def _define(event: Event) -> Fix | None:
    """``swish = lambda t: t * 2`` of the module becomes ``def swish(t): return t * 2``."""
    call = next(nodes_at(event.module.file, event.span, ast.Call), None)
    name = call.func.id if call is not None and isinstance(call.func, ast.Name) else None
    bindings = event.module.bindings.get(name, []) if name is not None else []
    node = bindings[0].node if len(bindings) == 1 else None
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Lambda) or len(node.targets) != 1:
        return None
    file, made = event.module.file, node.value
    if node.col_offset or node.lineno != node.end_lineno:
        return None
    args, body = ast.unparse(made.args), between(file, file.span(made.body))
    text = f"def {name}({args}):{file.newline}{step_of(file)}return {body}"
    return safe(f"Define {name} as a function", edit(file, file.span(node), text))
