"""Operators over objects of the project: the methods by which their classes say what they mean."""

from __future__ import annotations

import ast

from tsguard.analysis.python import classes
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.values import BoundMethod, External, FunctionValue, ModuleValue, ObjectValue, Value

_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
}
_COMPARED: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("lt", "gt"),
    ast.LtE: ("le", "ge"),
    ast.Gt: ("gt", "lt"),
    ast.GtE: ("ge", "le"),
    ast.Eq: ("eq", "eq"),
    ast.NotEq: ("ne", "ne"),
}
_UNARY: dict[type[ast.unaryop], str] = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert"}


def binary(
    interp: Interpreter, op: ast.operator, left: Value, right: Value, node: ast.AST | None
) -> Value | None:
    """``left op right`` where the class of one of them says so."""
    name = _BINARY[type(op)]
    return _of_either(interp, f"__{name}__", f"__r{name}__", left, right, node)


def in_place(
    interp: Interpreter, op: ast.operator, left: Value, right: Value, node: ast.AST | None
) -> Value | None:
    """``left += right`` where the class of the object says so by a method of its own."""
    return _of_one(interp, f"__i{_BINARY[type(op)]}__", left, [right], node)


def compared(
    interp: Interpreter, op: ast.cmpop, left: Value, right: Value, node: ast.AST | None
) -> Value | None:
    """``left < right`` where the class of one of them says so."""
    names = _COMPARED.get(type(op))
    if names is None:
        return None
    name, reflected = names
    return _of_either(interp, f"__{name}__", f"__{reflected}__", left, right, node)


def says_differs(interp: Interpreter, value: Value) -> bool:
    """Whether the class of an object has a ``__ne__`` of its own; else it is the opposite of ``__eq__``."""
    return isinstance(value, ObjectValue) and classes.class_member(interp, value.cls, "__ne__") is not None


def unary(interp: Interpreter, op: ast.unaryop, value: Value, node: ast.AST | None) -> Value | None:
    """``-value`` where its class says so."""
    name = _UNARY.get(type(op))
    return None if name is None else _of_one(interp, f"__{name}__", value, [], node)


def _of_either(
    interp: Interpreter, name: str, reflected: str, left: Value, right: Value, node: ast.AST | None
) -> Value | None:
    for method, owner, other in ((name, left, right), (reflected, right, left)):
        found = _of_one(interp, method, owner, [other], node)
        if found is not None and found != External("builtins.NotImplemented"):
            return found
    return None


def _of_one(
    interp: Interpreter, name: str, owner: Value, args: list[Value], node: ast.AST | None
) -> Value | None:
    method = own(interp, owner, name)
    return None if method is None else interp.call(method, args, {}, node)


def own(interp: Interpreter, owner: Value, name: str) -> BoundMethod | None:
    """A method that the class of an object defines in Python, bound to it; None of a module, which torch has a say in."""
    if not isinstance(owner, ObjectValue) or isinstance(owner, ModuleValue):
        return None
    found = classes.class_member(interp, owner.cls, name)
    is_read = found is not None and isinstance(found[0], FunctionValue)
    return BoundMethod(found[0], owner) if found is not None and is_read else None
