"""Fixes of ``f(x, **options)``, where a condition decides what the dict holds: each case is a call of its own."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import block_around, removed
from tsguard.fixes.composing import unsafe
from tsguard.fixes.edits import between
from tsguard.fixes.held_keywords import pass_held_by_name
from tsguard.fixes.pieces import rewritten
from tsguard.fixes.places import Function, functions_around
from tsguard.fixes.unpacked_keywords import items_of
from tsguard.report import Fix
from tsguard.source import SourceFile

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


@dataclass(frozen=True, slots=True)
class _Options:
    """What a dict holds where a test holds, and where not, and the statements that make it."""

    test: ast.expr
    held: dict[str, ast.expr]
    otherwise: dict[str, ast.expr]
    makers: tuple[ast.stmt, ...]


def pass_by_case(event: Event) -> Fix | None:
    """A dict that is always made alike is passed by name, one that a condition decides about in two calls."""
    return pass_held_by_name(event) or _in_two_calls(event)


def _in_two_calls(event: Event) -> Fix | None:
    """``options = {"scale": 2} if test else {}`` goes, and ``f(**options)`` becomes ``(f(scale=2) if test else f())``."""
    file, name = event.module.file, event.facts["value"]
    functions = functions_around(file, event.span)
    options = _made(file, functions[0], name) if functions else None
    if options is None:
        return None
    nodes = [n for part in functions[0].body for n in ast.walk(part)]
    calls = [n for n in nodes if isinstance(n, ast.Call) and _passes(n, name)]
    own = {id(n) for maker in options.makers for n in ast.walk(maker)}
    uses = [n for n in nodes if isinstance(n, ast.Name) and n.id == name and id(n) not in own]
    read = [options.test, *options.held.values(), *options.otherwise.values()]
    names = {n.id for value in read for n in ast.walk(value) if isinstance(n, ast.Name)}
    last = max(maker.end_lineno or maker.lineno for maker in options.makers)
    changed = any(
        isinstance(n, ast.Name) and n.id in names and not isinstance(n.ctx, ast.Load) and n.lineno > last
        for n in nodes
    )
    stored = any(isinstance(n, ast.Attribute) and not isinstance(n.ctx, ast.Load) for n in nodes)
    if len(calls) != 1 or len(uses) != 1 or changed or stored or calls[0].lineno <= last:
        return None
    if not all(map(_is_still, read)) and not _comes_next(file, options.makers[-1], calls[0]):
        return None
    one, other = (_call(file, calls[0], name, held) for held in (options.held, options.otherwise))
    change = rewritten(file, calls[0], f"({one} if {between(file, file.span(options.test))} else {other})")
    gone = [removed(file, maker) for maker in options.makers]
    return unsafe(f"Pass what {name} holds in two calls", change, gone)


def _is_still(value: ast.expr) -> bool:
    """Whether a value is the same later, if its names are: nothing is called, and no Tensor computed."""
    kinds = (ast.Name, ast.Attribute, ast.Constant, ast.Tuple, ast.Compare, ast.BoolOp, ast.Not, ast.USub)
    other = (ast.UnaryOp, ast.expr_context, ast.cmpop, ast.boolop)
    return all(isinstance(n, (*kinds, *other)) for n in ast.walk(value))


def _comes_next(file: SourceFile, maker: ast.stmt, call: ast.Call) -> bool:
    """Whether a call is in the simple statement below."""
    block = block_around(file, maker)
    below = block[block.index(maker) + 1] if maker is not block[-1] else None
    simple = isinstance(below, (ast.Assign, ast.AnnAssign, ast.Return, ast.Expr))
    return simple and below is not None and any(n is call for n in ast.walk(below))


def _made(file: SourceFile, function: Function, name: str) -> _Options | None:
    found = [
        n for n in ast.walk(function) if isinstance(n, (ast.Assign, ast.AnnAssign)) and _target(n) == name
    ]
    if len(found) != 1 or found[0].value is None:
        return None
    node, value = found[0], found[0].value
    if isinstance(value, ast.IfExp):
        held, otherwise = items_of(value.body), items_of(value.orelse)
        whole = held is not None and otherwise is not None
        return _Options(value.test, held or {}, otherwise or {}, (node,)) if whole else None
    first, block = items_of(value), block_around(file, node)
    below = block[block.index(node) + 1] if node is not block[-1] else None
    if first is None or not isinstance(below, ast.If) or below.orelse:
        return None
    added = dict(first)
    for part in below.body:
        target = part.targets[0] if isinstance(part, ast.Assign) and len(part.targets) == 1 else None
        if not isinstance(target, ast.Subscript) or ast.unparse(target.value) != name:
            return None
        if not isinstance(target.slice, ast.Constant) or not isinstance(part, ast.Assign):
            return None
        added[str(target.slice.value)] = part.value
    return _Options(below.test, added, first, (node, below))


def _target(node: ast.Assign | ast.AnnAssign) -> str:
    """The one variable that a statement assigns; "" for several."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return ast.unparse(targets[0]) if len(targets) == 1 else ""


def _passes(call: ast.Call, name: str) -> bool:
    return any(k.arg is None and ast.unparse(k.value) == name for k in call.keywords)


def _call(file: SourceFile, call: ast.Call, name: str, held: dict[str, ast.expr]) -> str:
    """The call with the items of the dict in its place."""
    given = [between(file, file.span(a)) for a in call.args]
    for keyword in call.keywords:
        text = between(file, file.span(keyword.value))
        if keyword.arg is not None:
            given.append(f"{keyword.arg}={text}")
        elif text == name:
            given += [f"{key}={between(file, file.span(value))}" for key, value in held.items()]
        else:
            given.append(f"**{text}")
    return f"{between(file, file.span(call.func))}({', '.join(given)})"
