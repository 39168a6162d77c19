"""Instances of classes that derive from ``dict``: what they hold, and the methods they have from it."""

from __future__ import annotations

import ast

from tsguard.analysis.python import ancestry, classes, comparisons, containers, methods
from tsguard.analysis.python.context import Interpreter, Raised
from tsguard.analysis.values import (
    FALSE,
    NONE,
    TRUE,
    Const,
    DictValue,
    External,
    ObjectValue,
    Value,
    constant,
    mapped,
)

_ABSTRACT = frozenset(
    f"{module}.{name}" for module in ("collections.abc", "typing") for name in ("Mapping", "MutableMapping")
)
# Methods that a class derived from ``dict`` has from ``object`` all the same.
_OF_OBJECTS = frozenset({"__delattr__", "__getattribute__", "__init_subclass__", "__setattr__"})
_MIXED_IN = frozenset({"get", "__contains__"})


def mixes_in(base: External, name: str) -> bool:
    """Whether a class is an abstract mapping and gives those derived from it this method."""
    return base.name in _ABSTRACT and name in _MIXED_IN


def call(
    interp: Interpreter, name: str, receiver: Value, args: list[Value], kwargs: dict[str, Value]
) -> Value | None:
    """The result of a method that an instance has from ``dict``; None for any other."""
    base, _, short = name.rpartition(".")
    if base in _ABSTRACT:
        return _mixed_in(interp, short, receiver, args)
    if not isinstance(receiver, ObjectValue) or receiver.contents is None or base not in ancestry.MAPPINGS:
        return None
    if short in _OF_OBJECTS:
        return None
    missing = classes.class_member(interp, receiver.cls, "__missing__") if short == "__getitem__" else None
    if missing is not None and args and _lacks(interp, receiver.contents, args[0]):
        return interp.call(classes.bind(missing[0], receiver, missing[1]), args, {}, None)
    return method(interp, short, receiver.contents, args, kwargs)


def _lacks(interp: Interpreter, contents: DictValue, key: Value) -> bool:
    return constant(comparisons.compare(interp, ast.In(), key, contents, None)) is False


def _mixed_in(interp: Interpreter, name: str, receiver: Value, args: list[Value]) -> Value | None:
    """What an abstract mapping makes of the ``__getitem__`` that a class derived from it defines."""
    found = (
        classes.class_member(interp, receiver.cls, "__getitem__")
        if isinstance(receiver, ObjectValue)
        else None
    )
    if found is None or name not in _MIXED_IN or not args:
        return None
    plain = interp.alone()  # the walks go on after what raises
    try:
        item = plain.call(classes.bind(found[0], receiver, found[1]), [args[0]], {}, None)
    except Raised:
        return FALSE if name == "__contains__" else args[1] if len(args) > 1 else NONE
    return TRUE if name == "__contains__" else item


def method(
    interp: Interpreter,
    name: str,
    contents: DictValue,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST | None = None,
) -> Value:
    """What a dict's method does with the contents."""
    if name == "__init__":
        name = "update"
    if name == "update" and not args and not kwargs:
        return NONE
    if name == "update":
        args = [mapped(arg) for arg in args]
    if name == "__getitem__" and args:
        return containers.item(interp, contents, args[0], node)
    if name == "__setitem__" and len(args) == 2:
        interp.set_item(contents, args[0], args[1])
        return NONE
    if name == "__len__" and not contents.open:
        return Const(len(contents.items))
    if name == "__contains__" and args:
        return comparisons.compare(interp, ast.In(), args[0], contents, None)
    result = methods.call(interp, name, contents, args, kwargs, node)
    interp.program.shared_state.used(contents)
    return result
