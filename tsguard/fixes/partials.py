"""Fixes of ``functools.partial`` in attributes: a method calls the function with what was settled."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import class_around, receiver, removed, step_of
from tsguard.fixes.composing import unsafe
from tsguard.fixes.edits import between, insertion_below
from tsguard.fixes.places import Function
from tsguard.report import Fix
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


def method_for_partial(event: Event) -> Fix | None:
    """``self.act = partial(F.leaky_relu, negative_slope=0.2)`` becomes a method ``act`` that calls ``F.leaky_relu``.

    Unsafe: who sets the attribute from outside takes the method's place.
    """
    file, name, owner = event.module.file, event.facts["name"], class_around(event.module.file, event.span)
    inits = [
        n
        for n in (owner.body if owner is not None else ())
        if isinstance(n, Function) and n.name == "__init__"
    ]
    if owner is None or len(inits) != 1:
        return None
    init, self_ = inits[0], receiver(inits[0])
    held = [
        n for n in init.body if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == f"{self_}.{name}"
    ]
    uses = [n for n in walked(owner) if isinstance(n, ast.Attribute) and n.attr == name]
    calls = [n for n in walked(owner) if isinstance(n, ast.Call) and n.func in uses]
    value = held[0].value if len(held) == 1 else None
    counts = {len(call.args) for call in calls}
    if not isinstance(value, ast.Call) or len(uses) != len(calls) + 1 or len(counts) != 1:
        return None
    if ast.unparse(value.func).rpartition(".")[2] != "partial" or any(call.keywords for call in calls):
        return None
    function, settled = value.args[0], [*value.args[1:], *(k.value for k in value.keywords)]
    known = ast.unparse(function).partition(".")[0] in event.module.bindings
    starred = any(isinstance(a, ast.Starred) for call in calls for a in call.args)
    if not known or starred or not all(isinstance(v, ast.Constant) for v in settled):
        return None
    names = [f"arg{i}" if i else "arg" for i in range(counts.pop())]
    first = [between(file, file.span(v)) for v in value.args[1:]]
    last = [f"{k.arg}={between(file, file.span(k.value))}" for k in value.keywords]
    passed = ", ".join((*first, *names, *last))
    indent = file.lines[init.lineno - 1][: init.col_offset]
    lines = [
        f"{indent}def {name}({', '.join((self_ or 'self', *names))}):",
        f"{indent}{step_of(file)}return {between(file, file.span(function))}({passed})",
    ]
    gone = removed(file, held[0])
    text = file.newline * 2 + file.newline.join(lines)
    added = insertion_below(file, init, text)
    return unsafe(f"Make {name} a method", gone, added)
