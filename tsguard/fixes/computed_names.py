"""Submodules that are looked up by a computed name: a method of the class goes through the modules that may be meant."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import method_around, receiver
from tsguard.fixes.chosen_modules import method_above
from tsguard.fixes.composing import unsafe
from tsguard.fixes.edits import between, insertion
from tsguard.fixes.imports import torch_imported
from tsguard.fixes.pieces import rewritten
from tsguard.fixes.places import Function, nodes_around, nodes_at
from tsguard.report import Edit, Fix
from tsguard.source import SourceFile

if TYPE_CHECKING:
    from tsguard.analysis.events import Event

_ANY = r"\w+"
_CHILDREN = {"items": "named_children", "values": "children"}
_REGISTERS = ("setattr", "add_module", "register_module", "__setattr__")


@dataclass(frozen=True, slots=True)
class _Lookup:
    """``getattr(self, name)`` in a method, and the calls of what it gives."""

    owner: ast.ClassDef
    method: Function
    self_: str
    name: ast.expr
    calls: tuple[ast.Call, ...]

    @property
    def keywords(self) -> list[str]:
        return [str(k.arg) for k in self.calls[0].keywords]


def call_by_name(event: Event) -> Fix | None:
    """``getattr(self, f"stage{i}")(x)`` becomes ``self.call_stage(f"stage{i}", x)``.

    Compiled code asks there which of the submodules has the name, and calls that.
    Unsafe: where the submodules take different arguments they do not compile.
    """
    node = next(nodes_at(event.module.file, event.span, ast.Call), None)
    if node is None or ast.unparse(node.func) != "getattr" or len(node.args) != 2 or node.keywords:
        return None
    return _called_by_name(event, node, node.args[0], node.args[1])


def reach_modules(event: Event) -> Fix | None:
    """``net._modules.items()`` becomes ``net.named_children()``, and ``self._modules[name](x)`` is looked up in a method."""
    file = event.module.file
    for node in nodes_around(file, event.span.line):
        if isinstance(node, ast.Subscript) and _is_held(event, node.value):
            assert isinstance(node.value, ast.Attribute)
            return _called_by_name(event, node, node.value.value, node.slice)
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr == "__getattr__" and event.facts["name"] == "__getattr__" and len(node.args) == 1:
            return _called_by_name(event, node, node.func.value, node.args[0])
        if node.func.attr in _CHILDREN and _is_held(event, node.func.value) and not node.args:
            assert isinstance(node.func.value, ast.Attribute)
            owner = between(file, file.span(node.func.value.value))
            change = rewritten(file, node, f"{owner}.{_CHILDREN[node.func.attr]}()")
            return unsafe(f"Ask for {_CHILDREN[node.func.attr]}", change)
    return None


def _is_held(event: Event, node: ast.expr) -> bool:
    """Whether an expression is the dict of a module's submodules, where that is what the event is about."""
    return isinstance(node, ast.Attribute) and node.attr == "_modules" == event.facts["name"]


def _called_by_name(event: Event, node: ast.expr, subject: ast.expr, name: ast.expr) -> Fix | None:
    file = event.module.file
    lookup = _lookup(file, event, node, subject, name)
    if lookup is None:
        return None
    pattern = _pattern(lookup.name, lookup.method)
    written = _method(lookup, pattern)
    there = {n.name: n for n in lookup.owner.body if isinstance(n, Function)}
    wanted = f"call_{re.split(r'[^a-zA-Z0-9_]', pattern)[0].strip('_') or 'child'}"
    names = (wanted, *(f"{wanted}_{i}" for i in range(2, 9)))
    taken = (n for n in names if n not in there or _alike(there[n], written.format(name=n)))
    called = next(taken, None)
    if called is None:
        return None
    text = _as_torch_formats(between(file, file.span(lookup.name)))
    held = node not in (c.func for c in lookup.calls)
    edits = [rewritten(file, node, text)] if held else []
    for call in lookup.calls:
        edits.append(rewritten(file, call.func, f"{lookup.self_}.{called}"))
        edits.append(_passed(file, call, ast.unparse(call.func) if held else text))
    torch = torch_imported(event.module, event.span.line)
    new = () if called in there else (method_above(file, lookup.method, written.format(name=called)),)
    shown = pattern.replace(_ANY, "*")
    return unsafe(f"Look {shown} up in a method", torch, new, edits)


def _lookup(
    file: SourceFile, event: Event, node: ast.expr, subject: ast.expr, name: ast.expr
) -> _Lookup | None:
    found = method_around(file, event.span)
    self_ = receiver(found[1]) if found is not None else None
    if found is None or self_ is None or ast.unparse(subject) != self_:
        return None
    calls = tuple(_calls(file, found[1], node))
    shapes = {(len(c.args), tuple(k.arg for k in c.keywords)) for c in calls}
    starred = [a for c in calls for a in c.args if isinstance(a, ast.Starred)]
    if len(shapes) != 1 or starred or any(k.arg is None for c in calls for k in c.keywords):
        return None
    if not calls[0].args and not calls[0].keywords:
        return None
    return _Lookup(*found, self_, name, calls)


def _calls(file: SourceFile, method: Function, node: ast.expr) -> Iterator[ast.Call]:
    """The calls of what a lookup gives, at once or by the variable that holds it; none where it is used otherwise."""
    for outer in nodes_around(file, node.lineno):
        if isinstance(outer, ast.Call) and outer.func is node:
            yield outer
        elif isinstance(outer, ast.Assign) and outer.value is node and isinstance(outer.targets[0], ast.Name):
            nodes = [n for part in method.body for n in ast.walk(part)]
            name = outer.targets[0].id
            uses = [n for n in nodes if isinstance(n, ast.Name) and n.id == name]
            by_name = [n for n in nodes if isinstance(n, ast.Call) and n.func in uses]
            if len(outer.targets) == 1 and len(uses) == len(by_name) + 1:
                yield from by_name


def _pattern(name: ast.expr, method: Function) -> str:
    """What a computed name looks like, as a regular expression."""
    if isinstance(name, ast.Constant):
        return re.escape(str(name.value))
    if isinstance(name, ast.JoinedStr):
        return "".join(_pattern(part, method) for part in name.values)
    if isinstance(name, ast.BinOp) and isinstance(name.op, ast.Add):
        return _pattern(name.left, method) + _pattern(name.right, method)
    if isinstance(name, ast.BinOp) and isinstance(name.left, ast.Constant):
        return re.sub(r"%[dsi]", lambda _: _ANY, str(name.left.value))
    if isinstance(name, ast.Call) and isinstance(name.func, ast.Attribute):
        text = name.func.value
        if name.func.attr == "format" and isinstance(text, ast.Constant):
            return re.sub(r"\{[^}]*\}", lambda _: _ANY, str(text.value))
    if isinstance(name, ast.Name):
        nodes = [n for n in ast.walk(method) if isinstance(n, ast.Assign)]
        values = [n.value for n in nodes if [ast.unparse(t) for t in n.targets] == [name.id]]
        if len(values) == 1 and not isinstance(values[0], ast.Name):
            return _pattern(values[0], method)
    return _ANY


def _as_torch_formats(text: str) -> str:
    """``{:d}`` is left as it stands by the formatting of TorchScript; of an integer ``{}`` makes the same."""
    return text.replace("{:d}", "{}").replace("{:}", "{}")


def _passed(file: SourceFile, call: ast.Call, text: str) -> Edit:
    """The edit that passes one argument more before the others."""
    parts = [*call.args, *(k.value for k in call.keywords)]
    first = min(parts, key=lambda part: (part.lineno, part.col_offset))
    span = file.span(first if call.args else call.keywords[0])
    return insertion(file, span.line, span.column, f"{text}, ")


def _method(lookup: _Lookup, pattern: str) -> str:
    """The method that calls the submodule of a name; its own name is left open."""
    names = [f"arg{i}" if i else "arg" for i in range(len(lookup.calls[0].args))]
    params = "".join(f", {n}" for n in (*names, *lookup.keywords))
    passed = ", ".join((*names, *(f"{k}={k}" for k in lookup.keywords)))
    written = _written_names(lookup.owner, pattern)
    head = (
        f"def {{name}}({lookup.self_}, name: str{params}):\n    if not torch.jit.is_scripting():\n"
        f"        return getattr({lookup.self_}, name)({passed})\n"
    )
    if written:
        lines = [
            f"    if {test}name == {attribute!r}:\n        return {lookup.self_}.{attribute}({passed})\n".replace("'", '"')
            for attribute, test in written.items()
        ]  # fmt: skip
        return head + "".join(lines) + "    raise AttributeError(name)\n"
    return (
        f"{head}    for child, module in {lookup.self_}.named_children():\n        if child == name:\n"
        f"            return module({passed})\n    raise AttributeError(name)\n"
    )


def _written_names(owner: ast.ClassDef, pattern: str) -> dict[str, str]:
    """The attributes of such names that the class assigns, each with what to ask before it is read.

    Empty where such a name may be computed there too.
    """
    if pattern == _ANY or any(_may_be(p, pattern) for p in _registrations(owner)):
        return {}
    found: dict[str, str] = {}
    for method in (n for n in owner.body if isinstance(n, Function)):
        for node in ast.walk(method):
            for target in node.targets if isinstance(node, ast.Assign) else ():
                own = isinstance(target, ast.Attribute) and ast.unparse(target.value) == receiver(method)
                if own and isinstance(target, ast.Attribute) and re.fullmatch(pattern, target.attr):
                    sure = node in method.body
                    asked = "" if sure else f'hasattr({receiver(method)}, "{target.attr}") and '
                    found[target.attr] = "" if found.get(target.attr) == "" else asked
    return found


def _may_be(registered: str, pattern: str) -> bool:
    """Whether a name of one pattern may be one of another; by how they begin."""
    one, other = registered.partition(_ANY)[0], pattern.partition(_ANY)[0]
    return one.startswith(other) or other.startswith(one)


def _registrations(owner: ast.ClassDef) -> Iterator[str]:
    """The patterns of the names under which a class registers what it holds."""
    for method in (n for n in owner.body if isinstance(n, Function)):
        for call in (n for n in ast.walk(method) if isinstance(n, ast.Call)):
            if ast.unparse(call.func).rpartition(".")[2] in _REGISTERS and len(call.args) >= 2:
                yield _pattern(call.args[-2], method)


def _alike(there: Function, text: str) -> bool:
    """Whether a method is the one that would be written, but for the types that were told since."""
    return _untyped(there) == _untyped(ast.parse(text).body[0])


def _untyped(node: ast.stmt) -> str:
    copy = ast.parse(ast.unparse(node)).body[0]
    for part in ast.walk(copy):
        if isinstance(part, ast.arg):
            part.annotation = None
        elif isinstance(part, Function):
            part.returns = None
    return ast.unparse(copy)
