"""Decorators, bases and metaclasses of packages that make records of classes, and how their fields are told.

Source: https://typing.python.org/en/latest/spec/dataclasses.html#the-dataclass-transform-decorator (PEP 681).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsguard.analysis.values import ClassValue, FunctionValue, Value
from tsguard.report.records import dataclass
from tsguard.source.unparsing import unparsed

if TYPE_CHECKING:
    from tsguard.analysis.python.context import Interpreter
    from tsguard.project.modules import Module

_MARK = "dataclass_transform"
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def decorates(interp: Interpreter, decorator: Value) -> bool:
    """Whether a class decorator makes records, by its own source or by the stub beside it."""
    if not isinstance(decorator, FunctionValue) or not isinstance(decorator.node, ast.FunctionDef):
        return False
    if is_marked(decorator.node):
        return True
    finder = interp.program.project.finder
    home = decorator.scope.module
    package = finder.find(home.name.partition(".")[0], home)
    return package is not None and _is_marked_in_stub(interp, package, decorator.node.name)


def _is_marked_in_stub(interp: Interpreter, package: Module, name: str, depth: int = 2) -> bool:
    """Whether the stub of a package marks a function, or the one from which it imports it does."""
    finder = interp.program.project.finder
    stub = finder.stub_beside(package)
    for statement in stub.file.tree.body if stub is not None and depth else ():
        if isinstance(statement, ast.FunctionDef) and statement.name == name and is_marked(statement):
            return True
        if isinstance(statement, ast.ImportFrom) and name in {alias.name for alias in statement.names}:
            source = finder.find(statement.module or "", package)
            return source is not None and _is_marked_in_stub(interp, source, name, depth - 1)
    return False


def is_marked(node: _Definition) -> bool:
    """Whether a definition is under ``@dataclass_transform(...)``."""
    return any(
        isinstance(decorator, ast.Call) and unparsed(decorator.func).rpartition(".")[2] == _MARK
        for decorator in node.decorator_list
    )


@dataclass(frozen=True, slots=True)
class Field:
    """A name that the body of a class may declare as a field, and what it is set to there."""

    name: str
    value: ast.expr | None


def fields(cls: ClassValue) -> Iterator[Field]:
    """What the body of a class may declare as fields, in their order."""
    for statement in cls.node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            yield Field(statement.target.id, statement.value)
        elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            yield Field(statement.targets[0].id, statement.value)


def is_parameter(interp: Interpreter, cls: ClassValue, field: Field) -> bool:
    """Whether the constructor takes a field: not what has no annotation or specifier, nor under ``init=False``."""
    if not _specifies(interp, cls, field.value):
        return field.name in cls.annotations
    return not any(
        keyword.arg == "init" and isinstance(keyword.value, ast.Constant) and keyword.value.value is False
        for keyword in getattr(field.value, "keywords", ())
    )


def default(interp: Interpreter, cls: ClassValue, field: Field) -> Value | None:
    """What a field is where nobody gives it, as its specifier tells; None where it has to be given."""
    value = field.value
    if not isinstance(value, ast.Call) or not _specifies(interp, cls, value):
        return None if value is None else interp.evaluate(value, cls.scope)
    given = {keyword.arg: keyword.value for keyword in value.keywords}
    told = given.get("default", value.args[0] if value.args else None)
    factory = given.get("default_factory", given.get("factory"))
    if factory is not None:
        return interp.call(interp.evaluate(factory, cls.scope), [], {}, value)
    if told is None or (isinstance(told, ast.Constant) and told.value is Ellipsis):
        return None
    return interp.evaluate(told, cls.scope)


def _specifies(interp: Interpreter, cls: ClassValue, value: ast.expr | None) -> bool:
    """Whether a value is made by a field specifier (``attr.ib(default=1)``), which the function's parameters show."""
    function = interp.evaluate(value.func, cls.scope) if isinstance(value, ast.Call) else None
    if not isinstance(function, FunctionValue):
        return False
    spec = function.node.args
    names = {parameter.arg for parameter in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)}
    return "default" in names and bool(names & {"default_factory", "factory"})
