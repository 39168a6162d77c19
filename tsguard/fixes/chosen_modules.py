"""Modules that are chosen at run time: a method of the class goes through the container and calls the one that is meant."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import method_around, receiver
from tsguard.fixes.composing import unsafe
from tsguard.fixes.edits import between, indentation, insertion_above
from tsguard.fixes.pieces import rewritten
from tsguard.fixes.places import Function, nodes_around
from tsguard.fixes.spelling import spelled
from tsguard.report import Edit, Fix
from tsguard.source import SourceFile

if TYPE_CHECKING:
    from tsguard.analysis.events import Event

_LIST = """def {name}(self, index: int{params}){returns}:
    for i, module in enumerate(self.{container}):
        if i == index or i - len(self.{container}) == index:
            return module({passed})
    raise IndexError("no module has this index")
"""
_DICT = """def {name}(self, key: str{params}){returns}:
    for name, module in self.{container}.items():
        if name == key:
            return module({passed})
    raise KeyError(key)
"""


@dataclass(frozen=True, slots=True)
class _Chosen:
    """``self.heads[i](x)`` in a method: the call, and the container by its name."""

    owner: ast.ClassDef
    method: Function
    call: ast.Call
    subscript: ast.Subscript
    container: str


def choose_from_list(event: Event) -> Fix | None:
    """``self.heads[i](x)`` becomes ``self.call_heads(i, x)``: a method that loops over the modules, and asks for ``i``."""
    return _choose(event, event.facts["index"], _LIST)


def choose_from_dict(event: Event) -> Fix | None:
    """``self.heads[key](x)`` becomes ``self.call_heads(key, x)``, which loops over the items of the dict."""
    return _choose(event, event.facts["key"], _DICT)


def _choose(event: Event, index: str, template: str) -> Fix | None:
    """Unsafe: eager goes through the modules too, which takes its time where they are many."""
    file = event.module.file
    chosen = next(_calls(event, index), None)
    if chosen is None or any(isinstance(a, ast.Starred) for a in chosen.call.args):
        return None
    if any(k.arg is None for k in chosen.call.keywords):
        return None
    name = f"call_{chosen.container.strip('_')}"
    names = [f"arg{i}" if i else "arg" for i in range(len(chosen.call.args))]
    keywords = [str(k.arg) for k in chosen.call.keywords]
    params = "".join(f", {n}" for n in (*names, *keywords))
    passed = ", ".join((*names, *(f"{k}={k}" for k in keywords)))
    returned = spelled("Tensor", event.module, chosen.method.lineno) if _is_one(file, chosen.call) else None
    text = template.format(
        name=name,
        container=chosen.container,
        params=params,
        passed=passed,
        returns=f" -> {returned.text}" if returned is not None else "",
    )
    there = [n for n in chosen.owner.body if isinstance(n, Function) and n.name == name]
    if there and ast.unparse(there[0]) != ast.unparse(ast.parse(text)):
        return None
    given = [between(file, file.span(part)) for part in (*chosen.call.args, *chosen.call.keywords)]
    key = between(file, file.span(chosen.subscript.slice))
    self_ = receiver(chosen.method)
    change = rewritten(file, chosen.call, f"{self_}.{name}({', '.join((key, *given))})")
    if self_ is None:
        return None
    added = () if there else (method_above(file, chosen.method, text), *(returned.edits if returned else ()))
    return unsafe(f"Choose from {chosen.container} in a method", added, change)


def _calls(event: Event, index: str) -> Iterator[_Chosen]:
    """The calls at the event of what a container of the module holds at an index."""
    found = method_around(event.module.file, event.span)
    if found is None:
        return
    self_ = receiver(found[1])
    for node in nodes_around(event.module.file, event.span.line):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Subscript):
            continue
        held = node.func.value
        written = ast.unparse(held) == event.facts["container"] and ast.unparse(node.func.slice) == index
        if written and isinstance(held, ast.Attribute) and ast.unparse(held.value) == self_:
            yield _Chosen(*found, node, node.func, held.attr)


def _is_one(file: SourceFile, call: ast.Call) -> bool:
    """Whether what a call gives is not unpacked, so that it may be taken for a Tensor."""
    assigned = [n for n in nodes_around(file, call.lineno) if isinstance(n, ast.Assign) and n.value is call]
    return not any(isinstance(t, (ast.Tuple, ast.List)) for n in assigned for t in n.targets)


def method_above(file: SourceFile, method: Function, text: str) -> Edit:
    """The edit that puts a method before another."""
    indent = indentation(file.lines[method.lineno - 1])
    lines = [f"{indent}{part}" for part in text.splitlines()]
    return insertion_above(file, method, file.newline.join(lines) + file.newline * 2)
