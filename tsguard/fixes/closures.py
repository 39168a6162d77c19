"""Fixes of functions within functions that use what is around them: it is passed to them."""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import class_around, fresh_name, receiver, removed
from tsguard.fixes.composing import unsafe
from tsguard.fixes.edits import indentation, insertion, insertion_above
from tsguard.fixes.lazily import cst
from tsguard.fixes.pieces import parsed
from tsguard.fixes.places import Function, functions_around, nodes_around
from tsguard.report import Edit, Fix
from tsguard.source import SourceFile
from tsguard.source.functions import named_parameters

if TYPE_CHECKING:
    from tsguard.analysis.events import Event

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class _Closure:
    """A function, the one it is defined in, and the names of that one which it reads."""

    inner: ast.FunctionDef
    outer: Function
    captured: tuple[str, ...]
    calls: tuple[ast.Call, ...]


def pass_captured(event: Event) -> Fix | None:
    """``def heads(t)`` that reads ``n`` of the function around it becomes ``def heads(n, t)`` of the module.

    What reads ``self`` becomes a method.  Unsafe: what it reads is read for each call, also where it is not
    needed.
    """
    file = event.module.file
    closure = _closure(event)
    owner = class_around(file, event.span)
    if closure is None or not closure.captured:
        return None
    outer, inner = closure.outer, closure.inner
    self_ = receiver(outer) if owner is not None and outer in owner.body else None
    is_method = self_ is not None and self_ in closure.captured
    top: ast.stmt | None = outer
    if not is_method:
        top = next((n for n in file.tree.body if any(part is outer for part in ast.walk(n))), None)
    gone = removed(file, inner)
    if top is None or gone is None:
        return None
    name = inner.name
    taken = _attributes(owner) if is_method and owner is not None else event.module.bindings
    if name in taken:
        name = fresh_name(file, f"{inner.name}_of_{outer.name.strip('_')}")
    passed = [n for n in closure.captured if not (is_method and n == self_)]
    text = _moved(file, closure, name, ([self_] if is_method and self_ else []) + passed)
    called = f"{self_}.{name}" if is_method else name
    edits = [_passing(file, call, called, passed) for call in closure.calls]
    if text is None:
        return None
    place = _above(file, top, text, lines=1 if is_method else 2)
    where = "a method" if is_method else "a function of the module"
    return unsafe(f"Make {inner.name} {where}, pass what it reads", place, gone, edits)


def _closure(event: Event) -> _Closure | None:
    """The function at an event, where it is only called, and what it reads is not shadowed at a call."""
    file, name = event.module.file, event.facts.get("name")
    nodes = list(nodes_around(file, event.span.line))
    inner = next((n for n in nodes if isinstance(n, ast.FunctionDef) and n.name == name), None)
    around = [f for f in functions_around(file, event.span) if f is not inner]
    if inner is None or not around or inner.decorator_list or name in _read(inner):
        return None
    outer = around[0]
    bound = {a.arg for a in ast.walk(outer.args) if isinstance(a, ast.arg)} | _stored(outer, inner)
    others = {n.name for n in ast.walk(outer) if isinstance(n, (*_SCOPES[:2], ast.ClassDef))}
    free = _read(inner) - _own(inner)
    captured = [n for n in dict.fromkeys(_in_order(inner)) if n in free & bound]
    changed = any(isinstance(n, (ast.Nonlocal, ast.Global, ast.Yield, ast.Await)) for n in ast.walk(inner))
    if free & others or changed or (set(captured) & _shadowed(outer, inner)):
        return None
    if any(not isinstance(d, ast.Constant) for d in (*inner.args.defaults, *inner.args.kw_defaults)):
        return None
    uses = [n for n in ast.walk(outer) if isinstance(n, ast.Name) and n.id == name]
    calls = [n for n in ast.walk(outer) if isinstance(n, ast.Call) and any(n.func is use for use in uses)]
    if len(calls) != len(uses):
        return None
    return _Closure(inner, outer, tuple(captured), tuple(calls))


def _in_order(function: ast.FunctionDef) -> list[str]:
    names = [n for n in ast.walk(function) if isinstance(n, ast.Name)]
    return [n.id for n in sorted(names, key=lambda n: (n.lineno, n.col_offset))]


def _read(function: ast.FunctionDef) -> set[str]:
    names = {n.id for part in function.body for n in ast.walk(part) if isinstance(n, ast.Name)}
    return names - set(dir(builtins))


def _own(function: ast.FunctionDef) -> set[str]:
    """The names that a function binds, also for its comprehensions and lambdas."""
    args = {a.arg for a in ast.walk(function) if isinstance(a, ast.arg)}
    return args | {
        n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }


def _stored(function: Function, inner: ast.FunctionDef) -> set[str]:
    within = {id(n) for n in ast.walk(inner)}
    nodes = (n for n in ast.walk(function) if id(n) not in within)
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _shadowed(outer: Function, inner: ast.FunctionDef) -> set[str]:
    """The names that comprehensions and other functions within the outer one bind for themselves."""
    within = {id(n) for n in ast.walk(inner)}
    found: set[str] = set()
    for node in ast.walk(outer):
        if node is outer or id(node) in within:
            continue
        if isinstance(node, ast.comprehension):
            found |= {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}
        elif isinstance(node, (ast.FunctionDef, ast.Lambda)):
            found |= {a.arg for a in ast.walk(node) if isinstance(a, ast.arg)}
            found |= {
                n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
            }
    return found


def _attributes(owner: ast.ClassDef) -> set[str]:
    names = {n.attr for n in ast.walk(owner) if isinstance(n, ast.Attribute)}
    return names | {n.name for n in owner.body if isinstance(n, (*_SCOPES[:2],))}


def _passing(file: SourceFile, call: ast.Call, called: str, passed: list[str]) -> Edit | None:
    """A call with the names before its arguments."""
    before = ", ".join(passed)
    more = ", " if passed and (call.args or call.keywords) else ""
    open_ = file.text.index("(", file.offset(*_end(file, call.func)))
    line, column = file.position(open_ + 1)
    if called == ast.unparse(call.func):
        return insertion(file, line, column, before + more)
    start = file.span(call.func)
    return Edit(file.path, start.line, start.column, line, column, f"{called}({before}{more}")


def _end(file: SourceFile, node: ast.expr) -> tuple[int, int]:
    span = file.span(node)
    return span.end_line, span.end_column


def _moved(file: SourceFile, closure: _Closure, name: str, captured: list[str]) -> str | None:
    """The text of the function by itself, with its new name and parameters."""
    inner = closure.inner
    lines = file.lines[inner.lineno - 1 : inner.end_lineno]
    indent = lines[0][: inner.col_offset]
    strings = [n for n in ast.walk(inner) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    if indent.strip() or any(line.strip() and not line.startswith(indent) for line in lines):
        return None
    if any(n.lineno != n.end_lineno for n in strings):
        return None
    text = file.newline.join(line[len(indent) :] for line in lines)
    module = parsed(text, cst.parse_module)
    definition = module.body[0] if isinstance(module, cst.Module) and len(module.body) == 1 else None
    if not isinstance(module, cst.Module) or not isinstance(definition, cst.FunctionDef):
        return None
    types = _types(closure.outer)
    added = [_parameter(n, types.get(n)) for n in captured]
    params = definition.params
    first = "posonly_params" if params.posonly_params else "params"
    params = params.with_changes(**{first: [*added, *getattr(params, first)]})
    return module.with_changes(body=[definition.with_changes(name=cst.Name(name), params=params)]).code


def _parameter(name: str, type_: str | None) -> cst.Param:
    annotation = cst.Annotation(cst.parse_expression(type_)) if type_ is not None else None
    return cst.Param(cst.Name(name), annotation=annotation)


def _types(outer: Function) -> dict[str, str]:
    """What is known of the names of a function: annotations, and numbers that are lengths of Tensors."""
    args = named_parameters(outer.args)
    found = {a.arg: ast.unparse(a.annotation) for a in args if a.annotation is not None}
    values: dict[str, list[bool]] = {}
    for node in ast.walk(outer):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                several = isinstance(target, (ast.Tuple, ast.List))
                names = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
                for n in names:
                    if isinstance(n, ast.Name):
                        values.setdefault(n.id, []).append(_is_size(node.value, several))
    found |= {name: "int" for name, sizes in values.items() if all(sizes) and name not in found}
    return found


def _is_size(value: ast.expr, several: bool) -> bool:
    text = ast.unparse(value)
    if several:
        return text.endswith((".shape", ".size()")) or ".shape[" in text
    if isinstance(value, ast.Constant):
        return type(value.value) is int
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and (value.func.attr == "size" and len(value.args) == 1)
    )


def _above(file: SourceFile, node: ast.stmt, text: str, lines: int) -> Edit:
    """The edit that puts a function before a definition, with empty lines between."""
    indent = indentation(file.lines[node.lineno - 1])
    body = file.newline.join(f"{indent}{part}" if part.strip() else part for part in text.split(file.newline))
    return insertion_above(file, node, body + file.newline * (lines + 1))
