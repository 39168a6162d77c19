"""The methods that torch writes for a dataclass: its constructor and its comparisons.

Source: torch/jit/_dataclass_impls.py.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tsguard.analysis import values as py
from tsguard.analysis.script.annotations import annotation_type
from tsguard.analysis.script.context import Compiler
from tsguard.analysis.script.refusals import Refusal
from tsguard.language import types as t
from tsguard.language.schemas import Argument, Schema
from tsguard.source.unparsing import unparsed

_EQUALITY = ("__eq__",)
_ORDER = ("__lt__", "__le__", "__gt__", "__ge__")


def fields(compiler: Compiler, cls: py.ClassValue) -> dict[str, t.Type]:
    """The attributes of an object, by type; what is no type is reported."""
    return {name: type_ for name, type_, is_kept in _declared(compiler, cls) if is_kept}


def methods(compiler: Compiler, cls: py.ClassValue, type_: t.ClassType) -> dict[str, Schema]:
    """The schemas of the methods that the class does not write itself."""
    written: dict[str, Schema] = {}
    if _asks(cls, "init", usual=True):
        written["__init__"] = Schema("__init__", "", tuple(_parameters(compiler, cls)), t.NONE)
    other = Argument("other", type_)
    compared = (*_EQUALITY * _asks(cls, "eq", usual=True), *_ORDER * _asks(cls, "order", usual=False))
    written.update({name: Schema(name, "", (other,), t.BOOL) for name in compared})
    return {name: schema for name, schema in written.items() if name not in cls.members}


def _declared(compiler: Compiler, cls: py.ClassValue) -> Iterator[tuple[str, t.Type, bool]]:
    """Each field's name and type, and whether the object keeps it: it does not keep an ``InitVar``."""
    for name, annotation in cls.annotations.items():
        kind = unparsed(annotation.value).rpartition(".")[2] if isinstance(annotation, ast.Subscript) else ""
        if kind == "ClassVar":
            continue
        is_passed = kind == "InitVar" and isinstance(annotation, ast.Subscript)
        named = annotation.slice if isinstance(annotation, ast.Subscript) and is_passed else annotation
        try:
            yield name, annotation_type(compiler, named, cls.scope), not is_passed
        except Refusal as refusal:
            compiler.report(refusal, cls.module)
            yield name, t.UNKNOWN, not is_passed


def _parameters(compiler: Compiler, cls: py.ClassValue) -> Iterator[Argument]:
    for name, type_, _ in _declared(compiler, cls):
        given = _assigned(cls, name)
        call = given if isinstance(given, ast.Call) and unparsed(given.func).endswith("field") else None
        named = {keyword.arg: keyword.value for keyword in call.keywords} if call is not None else {}
        if not _is_false(named.get("init")):
            has_default = "default" in named if call is not None else given is not None
            yield Argument(name, type_, has_default)


def _assigned(cls: py.ClassValue, name: str) -> ast.expr | None:
    """What the class body assigns to a field."""
    for node in cls.node.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            return node.value
    return None


def _asks(cls: py.ClassValue, option: str, *, usual: bool) -> bool:
    """Whether the decorator asks for a method."""
    for decorator in cls.node.decorator_list:
        if isinstance(decorator, ast.Call) and unparsed(decorator.func).endswith("dataclass"):
            for keyword in decorator.keywords:
                if keyword.arg == option and isinstance(keyword.value, ast.Constant):
                    return bool(keyword.value.value)
    return usual


def _is_false(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is False
