"""Decorators, bases and metaclasses of packages that make records of classes, and how their fields are told.

Source: https://typing.python.org/en/latest/spec/dataclasses.html#the-dataclass-transform-decorator (PEP 681).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsguard.analysis.values import ClassValue, External, FunctionValue, Value
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
    """A field that a class declares.

    ``default`` is what it is where nobody gives it, None where it has to be given; ``is_parameter`` whether the
    constructor takes it, as it does not under ``init=False``.
    """

    name: str
    default: Value | None
    is_parameter: bool = True
    is_specified: bool = False


def specified(interp: Interpreter, cls: ClassValue) -> dict[str, Field]:
    """The fields of a class that are declared by a specifier, as ``dataclasses.field``."""
    return {field.name: field for field in fields(interp, cls) if field.is_specified}


def fields(interp: Interpreter, cls: ClassValue) -> Iterator[Field]:
    """What the body of a class declares as fields, in their order: by an annotation, or by a specifier alone."""
    for statement in cls.node.body:
        if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
            continue
        target = statement.target if isinstance(statement, ast.AnnAssign) else statement.targets[0]
        value = statement.value
        if not isinstance(target, ast.Name):
            continue
        if isinstance(value, ast.Call) and _specifies(interp, cls, value):
            yield Field(target.id, _specified(interp, cls, value), _is_parameter(value), is_specified=True)
        elif isinstance(statement, ast.AnnAssign):
            yield Field(target.id, None if value is None else interp.evaluate(value, cls.scope))


_FIELD = External("dataclasses.field")


def _specifies(interp: Interpreter, cls: ClassValue, call: ast.Call) -> bool:
    """Whether a call is one of a field specifier (``attr.ib(default=1)``), which the function's parameters show."""
    function = interp.evaluate(call.func, cls.scope)
    if not isinstance(function, FunctionValue):
        return function == _FIELD
    spec = function.node.args
    names = {parameter.arg for parameter in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)}
    return "default" in names and bool(names & {"default_factory", "factory"})


def _specified(interp: Interpreter, cls: ClassValue, call: ast.Call) -> Value | None:
    """The default that a specifier tells of; ``...`` stands for none."""
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    factory = given.get("default_factory", given.get("factory"))
    if factory is not None:
        return interp.call(interp.evaluate(factory, cls.scope), [], {}, call)
    told = given.get("default", call.args[0] if call.args else None)
    if told is None or (isinstance(told, ast.Constant) and told.value is Ellipsis):
        return None
    return interp.evaluate(told, cls.scope)


def _is_parameter(call: ast.Call) -> bool:
    return not any(
        keyword.arg == "init" and isinstance(keyword.value, ast.Constant) and keyword.value.value is False
        for keyword in call.keywords
    )
