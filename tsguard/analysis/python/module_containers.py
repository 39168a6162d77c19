"""Containers of modules while they are made: items picked, set and taken out as torch.nn numbers them."""

from __future__ import annotations

import ast

from tsguard.analysis.python import classes
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.python.library import append, extend, register
from tsguard.analysis.python.module_walks import Handler
from tsguard.analysis.terms import placed
from tsguard.analysis.values import (
    NONE,
    ModuleValue,
    SliceValue,
    Unknown,
    Value,
    constant,
    slice_of,
)


def item(interp: Interpreter, owner: ModuleValue, key: Value, node: ast.AST | None) -> Value:
    """``owner[key]``: a module, or a container of those that a slice picks."""
    own = classes.class_member(interp, owner.cls, "__getitem__")
    if own is not None:
        return interp.call(classes.bind(own[0], owner, owner.cls), [key], {}, node)
    held = owner.parameters or owner.children
    if isinstance(key, SliceValue):
        part = None if owner.open else slice_of(key)
        picked = list(held.values()) if part is None else list(held.values())[part]
        copy = ModuleValue(owner.cls, open=owner.open or part is None, initialized=True)
        copy.children = {str(i): child for i, child in enumerate(picked)}
        return copy
    name = _name(owner, key)
    if name in held:
        return held[name]
    return next(iter(held.values()), Unknown(placed(node)))


def put(interp: Interpreter, owner: ModuleValue, key: Value, value: Value) -> None:
    """``owner[key] = value``: in the place of what is there."""
    name = _name(owner, key)
    if name is None:
        owner.open = True
        name = f"?{len(owner.children)}"
    register(owner, name, value)


def remove(owner: ModuleValue, key: Value) -> Value:
    """``del owner[key]``: what is left in a list is numbered anew. What was there is given."""
    if isinstance(key, SliceValue):
        part = slice_of(key)
        gone = [] if part is None else list(owner.children)[part]
    else:
        name = _name(owner, key)
        gone = [name] if name in owner.children else []
    owner.open = owner.open or not gone
    taken = [owner.children.pop(name) for name in gone]
    if not isinstance(constant(key), str):
        owner.children = {str(i): child for i, child in enumerate(owner.children.values())}
    return taken[0] if taken else Unknown()


def _name(owner: ModuleValue, key: Value) -> str | None:
    """The name under which a container holds what a key stands for; None where the source does not tell."""
    index = constant(key)
    names = list(owner.parameters or owner.children)
    if isinstance(index, int) and not owner.open and -len(names) <= index < len(names):
        return names[index]
    return str(index) if isinstance(index, (str, int)) else None


def _append(interp: Interpreter, owner: ModuleValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
    for child in (*args, *kwargs.values()):
        append(interp, owner, child)
    return owner


def _insert(interp: Interpreter, owner: ModuleValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
    given = {**dict(zip(("index", "module"), args, strict=False)), **kwargs}
    index = constant(given.get("index", Unknown()))
    children = list(owner.children.values())
    children.insert(index if isinstance(index, int) else 0, given.get("module", Unknown()))
    owner.children = {str(i): child for i, child in enumerate(children)}
    return NONE


def _extend(interp: Interpreter, owner: ModuleValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
    for contents in (*args, *kwargs.values()):
        extend(interp, owner, contents)
    return owner


def _pop(interp: Interpreter, owner: ModuleValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
    keys = [*args, *kwargs.values()]
    return remove(owner, interp.settled(keys[0])) if keys else Unknown()


def _clear(interp: Interpreter, owner: ModuleValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
    owner.children.clear()
    return NONE


CHANGES: dict[str, Handler] = {
    "append": _append,
    "extend": _extend,
    "update": _extend,
    "insert": _insert,
    "pop": _pop,
    "clear": _clear,
}
