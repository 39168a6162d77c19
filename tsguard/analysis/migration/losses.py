"""Features of a scripted module that an exported program does not have."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.events import Event
from tsguard.analysis.python import PythonInterpreter, Raised, ancestry
from tsguard.analysis.subjects import definition
from tsguard.source.functions import positional_parameters

if TYPE_CHECKING:
    from tsguard.analysis.python import Program
    from tsguard.project import Target

_CONSTANTS = ("bool", "int", "float", "str")
_WORDS = {"bool": "flag", "int": "number", "float": "number", "str": "text"}


def losses_of(program: Program, target: Target, *, by_mode: bool) -> Iterator[Event]:
    """What is lost of a module; ``by_mode`` tells that its result depends on the mode."""
    interp = PythonInterpreter(program)
    try:
        cls = definition(interp, target) if target.kind == "module" else None
        lineage = ancestry.mro(interp, cls) if isinstance(cls, py.ClassValue) else ()
    except Raised:
        return
    members = _members(lineage)
    for name, member in members.items():
        if "export" in member.marks and name != "forward":
            span = member.module.file.span(member.node)
            yield Event("exported-method", member.module, span, {"name": name})
    forward = members.get("forward")
    if forward is not None:
        yield from _of_inputs(forward)
    if by_mode and lineage:
        span = target.module.file.span(target.node)
        yield Event("held-mode", target.module, span, {"name": target.qualname})


def _members(lineage: tuple[py.Value, ...]) -> dict[str, py.FunctionValue]:
    """The methods by name, each of the nearest class that defines it."""
    found: dict[str, py.Value] = {}
    for cls in lineage:
        if isinstance(cls, py.ClassValue):
            found = {**cls.members, **found}
    return {name: value for name, value in found.items() if isinstance(value, py.FunctionValue)}


def _of_inputs(forward: py.FunctionValue) -> Iterator[Event]:
    node = forward.node
    given = [
        *positional_parameters(node)[1:],
        *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True),
    ]
    for parameter, default in given:
        span = forward.module.file.span(parameter)
        kind = _kind(parameter.annotation, default)
        if _is_optional(parameter.annotation, default):
            yield Event("optional-input", forward.module, span, {"name": parameter.arg})
        elif kind:
            facts = {"name": parameter.arg, "kind": _WORDS[kind]}
            yield Event("constant-input", forward.module, span, facts)


def _is_optional(annotation: ast.expr | None, default: ast.expr | None) -> bool:
    if isinstance(default, ast.Constant) and default.value is None:
        return True
    if isinstance(annotation, ast.Subscript):
        return _last_name(annotation.value) == "Optional"
    if isinstance(annotation, ast.BinOp):
        sides = (annotation.left, annotation.right)
        return any(isinstance(side, ast.Constant) and side.value is None for side in sides)
    return False


def _kind(annotation: ast.expr | None, default: ast.expr | None) -> str:
    """The type of Python's that a parameter takes; "" for others, and where it cannot be told."""
    if annotation is not None:
        name = _last_name(annotation)
        return name if name in _CONSTANTS else ""
    name = type(default.value).__name__ if isinstance(default, ast.Constant) else ""
    return name if name in _CONSTANTS else ""


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
