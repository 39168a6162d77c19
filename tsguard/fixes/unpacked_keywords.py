"""Fixes of ``f(**options)``, where the function itself makes the dict: its items become variables that are passed by name."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import changed_block
from tsguard.fixes.composing import safe
from tsguard.fixes.edits import between, edit
from tsguard.fixes.forwarded_arguments import pass_on_by_name
from tsguard.fixes.lazily import cst
from tsguard.fixes.places import Function, functions_around
from tsguard.report import Fix
from tsguard.source import SourceFile

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


def pass_by_name(event: Event) -> Fix | None:
    """``options = dict(dim=-1)`` with ``f(x, **options)`` becomes ``options_dim = -1`` with ``f(x, dim=options_dim)``.

    The dict is made once and used for nothing else. Keywords that the caller gives: see ``pass_on_by_name``.
    """
    functions, name = functions_around(event.module.file, event.span), event.facts["value"]
    made = _written_out(event.module.file, functions[0], name) if functions else None
    return made or pass_on_by_name(event)


def _written_out(file: SourceFile, function: Function, name: str) -> Fix | None:
    nodes = list(ast.walk(function))
    uses = [n for n in nodes if isinstance(n, ast.Name) and n.id == name]
    makers = [n for n in nodes if isinstance(n, ast.Assign) and len(n.targets) == 1 and n.targets[0] in uses]
    items = items_of(makers[0].value) if makers else None
    if items is None or {f"{name}_{key}" for key in items} & {n.id for n in nodes if isinstance(n, ast.Name)}:
        return None
    reads: list[tuple[ast.keyword | ast.expr, str]] = [
        (k, ", ".join(f"{key}={name}_{key}" for key in items))
        for n in nodes
        if isinstance(n, ast.Call)
        for k in n.keywords
        if k.arg is None and k.value in uses
    ]
    reads += [
        (n, f"{name}_{n.slice.value}")
        for n in nodes
        if isinstance(n, ast.Subscript)
        and n.value in uses
        and isinstance(n.slice, ast.Constant)
        and n.slice.value in items
    ]
    if len(reads) + 1 != len(uses) or not items:
        return None
    lines = [f"{name}_{key} = {_text(file, value)}" for key, value in items.items()]
    made = changed_block(file, makers[0], cst.SimpleStatementLine, lambda line: _instead(line, lines))
    read = [edit(file, file.span(node), text) for node, text in reads]
    return safe(f"Pass what {name} holds by name", made, read)


def items_of(made: ast.expr) -> dict[str, ast.expr] | None:
    """The values of a dict that is written with all its keys, which are names."""
    if isinstance(made, ast.Call) and ast.unparse(made.func) == "dict" and not made.args:
        pairs = [(k.arg, k.value) for k in made.keywords]
    elif isinstance(made, ast.Dict):
        keys = [k.value if isinstance(k, ast.Constant) else None for k in made.keys]
        pairs = [(k if isinstance(k, str) else None, v) for k, v in zip(keys, made.values, strict=True)]
    else:
        return None
    items = {key: value for key, value in pairs if key is not None and key.isidentifier()}
    return items if len(items) == len(pairs) else None


def _text(file: SourceFile, value: ast.expr) -> str:
    text = between(file, file.span(value))
    return f"({text})" if "\n" in text else text


def _instead(line: cst.SimpleStatementLine, lines: list[str]) -> list[cst.BaseStatement]:
    """Assignments in the place of one, below the comments that it has."""
    first, *rest = (cst.parse_statement(line) for line in lines)
    return [first.with_changes(leading_lines=line.leading_lines), *rest]
