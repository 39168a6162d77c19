"""Fixes of functions within functions: they go to the class or to the module."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import class_around, method_around, receiver, removed
from tsguard.fixes.closures import pass_captured
from tsguard.fixes.composing import safe, unsafe
from tsguard.fixes.edits import between, indentation, insertion_above, insertion_below
from tsguard.fixes.final_flags import declare_flag
from tsguard.fixes.guards import leave_to_python
from tsguard.fixes.held_fields import hold_field
from tsguard.fixes.held_values import hold_otherwise
from tsguard.fixes.partials import method_for_partial
from tsguard.fixes.places import Function, functions_around, nodes_around
from tsguard.report import Fix
from tsguard.source import SourceFile

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


def move_out(event: Event) -> Fix | None:
    """A function that is defined in another goes to the module, and is passed what it uses of that one."""
    return _move_alone(event) or pass_captured(event)


def define_or_leave(event: Event) -> Fix | None:
    """A class that a call makes is made once, in the module; what else only Python can call stays there."""
    return _define_outside(event) or leave_to_python(event)


def _define_outside(event: Event) -> Fix | None:
    """``out = namedtuple("out", ["a", "b"])`` in a method goes to the module, where TorchScript takes it for a type."""
    file = event.module.file
    functions = functions_around(file, event.span)
    for node in nodes_around(file, event.span.line):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call) or not functions:
            continue
        target, called = node.targets[0], ast.unparse(node.value.func).rpartition(".")[2]
        read = {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}
        top = next((n for n in file.tree.body if functions[0] in ast.walk(n)), None)
        stored = [n for n in ast.walk(file.tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        if (
            called != "namedtuple"
            or not isinstance(target, ast.Name)
            or len(node.targets) != 1
            or top is None
        ):
            continue
        if (
            target.id in event.module.bindings
            or read & _bound_by(functions[0])
            or sum(n.id == target.id for n in stored) != 1
        ):
            return None
        gone = removed(file, node)
        text = f"{target.id} = {ast.unparse(node.value)}{file.newline * 3}"
        return safe(f"Define {target.id} in the module", insertion_above(file, top, text), gone)
    return None


def _bound_by(function: Function) -> set[str]:
    """The names that a function binds."""
    names = {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
    return names | {
        n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }


def _move_alone(event: Event) -> Fix | None:
    """A function that is defined in another and uses nothing of it becomes one of the module."""
    file = event.module.file
    inner = next(
        (
            n
            for n in nodes_around(file, event.span.line)
            if isinstance(n, ast.FunctionDef) and n.name == event.facts.get("name")
        ),
        None,
    )
    if inner is None or inner.decorator_list or inner.name in event.module.bindings:
        return None
    if (
        inner.name in dir(builtins)
        or not _is_the_only(file, inner)
        or any(map(_is_made_anew, _defaults(inner)))
    ):
        return None
    outer = [f for f in functions_around(file, event.span) if f is not inner and inner in ast.walk(f)]
    if not outer or _free(inner) & _bound(outer[-1], inner) or _is_bound_again(outer[-1], inner):
        return None
    gone = removed(file, inner)
    top = outer[-1]
    owner = next((n for n in file.tree.body if top in ast.walk(n)), None)
    if owner is None:
        return None
    text = _dedented(file, inner)
    if text is None:
        return None
    added = insertion_above(file, owner, text + file.newline * 3)
    return safe(f"Move {inner.name} to the module", added, gone)


def _dedented(file: SourceFile, node: ast.FunctionDef) -> str | None:
    lines = file.lines[node.lineno - 1 : node.end_lineno]
    indent = lines[0][: node.col_offset]
    if indent.strip() or any(line.strip() and not line.startswith(indent) for line in lines):
        return None
    strings = [n for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    if any(n.lineno != n.end_lineno for n in strings):
        return None
    return file.newline.join(line[len(indent) :] for line in lines)


def _free(function: ast.FunctionDef) -> set[str]:
    """The names that a function reads and does not bind itself."""
    own = {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
    nodes = [n for n in ast.walk(function) if isinstance(n, ast.Name)]
    own |= {n.id for n in nodes if isinstance(n.ctx, ast.Store)}
    return {n.id for n in nodes if isinstance(n.ctx, ast.Load)} - own - set(dir(builtins))


def _bound(function: Function, inner: ast.FunctionDef) -> set[str]:
    """The names that a function binds, but for the one defined within."""
    others = [n for n in ast.walk(function) if isinstance(n, Function) and n not in (function, inner)]
    return _bound_by(function) | {n.name for n in others}


def _is_the_only(file: SourceFile, inner: ast.FunctionDef) -> bool:
    """Whether no other function of the file has this name: it would have to move to the same place."""
    return sum(isinstance(n, Function) and n.name == inner.name for n in ast.walk(file.tree)) == 1


def _defaults(function: ast.FunctionDef) -> list[ast.expr]:
    return [*function.args.defaults, *(d for d in function.args.kw_defaults if d is not None)]


def _is_made_anew(default: ast.expr) -> bool:
    """Whether a default is another object each time that the definition is executed."""
    return any(
        not isinstance(n, (ast.Constant, ast.UnaryOp, ast.unaryop, ast.Tuple, ast.expr_context))
        for n in ast.walk(default)
    )


def _is_bound_again(function: Function, inner: ast.FunctionDef) -> bool:
    """Whether a function gives the name of one that is defined in it to something else, too."""
    for node in ast.walk(function):
        names = [getattr(node, field, None) for field in ("name", "asname", "arg")]
        if isinstance(node, ast.alias) and node.asname is None:
            names = [node.name.partition(".")[0]]
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            names = [*node.names]
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names = [node.id]
        if inner.name in names and node is not inner and not isinstance(node, ast.keyword):
            return True
    return False


def give_up_object(event: Event) -> Fix | None:
    """What an attribute cannot hold: a lambda becomes a method, of a configuration the fields are kept.

    Where a flag of the module decides whether it is read at all, torch is told so.
    """
    made = hold_otherwise(event) or make_method(event) or method_for_partial(event)
    return made or hold_field(event) or declare_flag(event)


def make_method(event: Event) -> Fix | None:
    """``self.act = lambda x: x * 2`` becomes a method ``act``.

    Only its arguments, the module itself and the file's names may be read in it.
    """
    file, name = event.module.file, event.facts["name"]
    method = method_around(file, event.span)
    owner = method[0] if method is not None else class_around(file, event.span)
    if owner is None or "lambda" not in event.facts.get("reason", ""):
        return None
    inits = [n for n in owner.body if isinstance(n, Function) and n.name == "__init__"]
    found = [
        (node, init)
        for init in inits
        for node in init.body
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Lambda)
        and [ast.unparse(t) for t in node.targets] == [f"{receiver(init)}.{name}"]
    ]
    every = [n for n in ast.walk(owner) if isinstance(n, ast.Attribute) and n.attr == name]
    if len(found) != 1 or sum(isinstance(n.ctx, ast.Store) for n in every) != 1:
        return None
    assigned, init = found[0]
    made = assigned.value
    assert isinstance(made, ast.Lambda)
    own = {a.arg for a in ast.walk(made.args) if isinstance(a, ast.arg)}
    read = {n.id for n in ast.walk(made.body) if isinstance(n, ast.Name)} - own - set(dir(builtins))
    locals_ = _locals(init)
    lines, self_ = [], receiver(init) or "self"
    for free in sorted(read & locals_.keys()):
        value = locals_[free]
        if value is None or not isinstance(value, (ast.Attribute, ast.Name)):
            return None
        lines.append(f"{free} = {ast.unparse(value)}")
    if made.args.defaults or made.args.vararg or made.args.kwarg or made.args.kwonlyargs:
        return None
    gone = removed(file, assigned)
    args = ", ".join((self_, *(a.arg for a in made.args.args)))
    indent = indentation(file.lines[init.lineno - 1])
    step = "\t" if indent.startswith("\t") else "    "
    values = {free: ast.unparse(value) for free, value in locals_.items() if value is not None}
    body = _substituted(file, made.body, {k: v for k, v in values.items() if k in read})
    text = f"{indent}def {name}({args}):{file.newline}{indent}{step}return {body}{file.newline}"
    if "\n" in body:
        return None
    added = insertion_below(file, init, file.newline * 2 + text.rstrip())
    return unsafe(f"Make {name} a method", gone, added)


def _substituted(file: SourceFile, node: ast.expr, values: dict[str, str]) -> str:
    class Swap(ast.NodeTransformer):
        def visit_Name(self, name: ast.Name) -> ast.expr:
            return ast.parse(values[name.id], mode="eval").body if name.id in values else name

    if not values:
        return between(file, file.span(node))
    return ast.unparse(Swap().visit(ast.parse(ast.unparse(node), mode="eval").body))


def _locals(init: Function) -> dict[str, ast.expr | None]:
    """The names that a function binds, with their value where they have one that is assigned once."""
    found: dict[str, ast.expr | None] = {a.arg: None for a in init.args.args[1:]}
    for node in ast.walk(init):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found[target.id] = None if target.id in found else node.value
    return found
