"""Classes that a call makes: named tuples and enumerations."""

from __future__ import annotations

import ast

from tsguard.analysis.python import (
    ancestry,
    enumerations,
)
from tsguard.analysis.python.computed_calls import Args, Handler, Kwargs
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.values import (
    SOURCELESS,
    ClassValue,
    Const,
    DictValue,
    External,
    ListValue,
    Scope,
    TupleValue,
    Unknown,
    Value,
    constant,
)


def _namedtuple(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    name = constant(args[0]) if args else None
    names = list(_named_values(args[1:2]))
    if not isinstance(name, str) or not names:
        return Unknown()
    cls = _called_class(name, "builtins.tuple", frozenset({"collections.namedtuple"}))
    cls.annotations = {field: ast.Name("Tensor") for field in names}
    return cls


def _typed_namedtuple(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    """``NamedTuple("Pair", [("left", int), ("right", Tensor)])``."""
    name = constant(args[0]) if args else None
    rows = args[1].items if len(args) == 2 and isinstance(args[1], ListValue) else []
    fields = [row.items for row in rows if isinstance(row, TupleValue) and len(row.items) == 2]
    if not isinstance(name, str) or not fields or len(fields) != len(rows) or kwargs:
        return Unknown()
    cls = _called_class(name, "typing.NamedTuple", frozenset({"evaluated annotations"}))
    cls.scope = Scope(SOURCELESS.module)
    written = node.args[1].elts if isinstance(node, ast.Call) and isinstance(node.args[1], ast.List) else []
    for index, (field, type_) in enumerate(fields):
        row = written[index] if index < len(written) else None
        is_plain = isinstance(row, ast.Tuple) and isinstance(row.elts[1], (ast.Name, ast.Attribute))
        cls.annotations[str(constant(field))] = ast.Name(f"type of {constant(field)}")
        cls.scope.names[f"type of {constant(field)}"] = type_ if is_plain else Unknown()
    return cls


def _enumeration(base: str) -> Handler:
    """``Enum("Kind", "first second")``; with one argument, as for a member's value, nothing is told."""

    def run(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
        name = constant(args[0]) if args else None
        values = _named_values([*args[1:2], *(kwargs[k] for k in kwargs if k == "names")])
        if not isinstance(name, str) or not values or len(args) > 2 or set(kwargs) - {"names", "module"}:
            return Unknown()
        cls = _called_class(name, base, frozenset())
        is_text = base == "enum.StrEnum"
        for label, value in values.items():
            cls.members[label] = Const(label.lower()) if is_text and isinstance(value.value, int) else value
        enumerations.make_members(interp, cls, ancestry.mro(interp, cls))
        return cls

    return run


def _named_values(given: list[Value]) -> dict[str, Const]:
    """The names in a text, a list or a dict, numbered from one where they come without values."""
    if not given:
        return {}
    names = constant(given[0])
    if isinstance(names, str):
        return {name: Const(i) for i, name in enumerate(names.replace(",", " ").split(), 1)}
    if isinstance(given[0], (ListValue, TupleValue)):
        return {str(constant(item)): Const(i) for i, item in enumerate(given[0].items, 1)}
    if isinstance(given[0], DictValue):
        return {str(k): v for k, v in given[0].items.items() if isinstance(v, Const)}
    return {}


def _called_class(name: str, base: str, marks: frozenset[str]) -> ClassValue:
    """A class that a call makes, so that it stands in no module."""
    return ClassValue(ast.ClassDef(name, [], [], [], []), SOURCELESS, name, (External(base),), marks=marks)


HANDLERS: dict[str, Handler] = {
    "collections.namedtuple": _namedtuple,
    "typing.NamedTuple": _typed_namedtuple,
    "enum.Enum": _enumeration("enum.Enum"),
    "enum.IntEnum": _enumeration("enum.IntEnum"),
    "enum.StrEnum": _enumeration("enum.StrEnum"),
}
