"""What the methods do that modules inherit from torch.nn."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.python.library import OBSERVER_SWITCHES, append, descendants, extend, initialize
from tsguard.analysis.values import (
    NONE,
    TRUE,
    Const,
    External,
    ListValue,
    ModuleValue,
    TensorValue,
    TupleValue,
    Unknown,
    Value,
    constant,
    is_none,
)


def method(
    interp: Interpreter, name: str, owner: Value, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    """The result of a method that a module inherits from torch.nn."""
    if not isinstance(owner, ModuleValue):
        return Unknown()
    base, _, short = name.rpartition(".")
    if short == "__init__":
        initialize(interp, owner, base, args, kwargs)
        return NONE
    if short == "__setattr__" and len(args) == 2 and isinstance(constant(args[0]), str):
        interp.set_attribute(owner, str(constant(args[0])), args[1])
        return NONE
    handler = _METHODS.get(short)
    return handler(interp, owner, args, kwargs) if handler is not None else Unknown()


def _argument(args: list[Value], kwargs: dict[str, Value], index: int, name: str) -> Value:
    return args[index] if index < len(args) else kwargs.get(name, NONE)


def _register(registry: str, role: str) -> Any:
    def run(interp: Interpreter, owner: ModuleValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
        name = constant(interp.settled(_argument(args, kwargs, 0, "name")))
        value = interp.settled(
            _argument(args, kwargs, 1, {"children": "module", "parameters": "param"}.get(registry, "tensor"))
        )
        if not isinstance(name, str):
            owner.open = True
            name = f"?{len(owner.children)}"
        if isinstance(value, TensorValue) and role:
            value = value if value.role == role else replace(value, role=role)
        elif role and isinstance(value, Unknown):
            value = NONE if value.default is not None and is_none(value.default) else TensorValue(role)
        owner.open = owner.open or interp.open_loops > 0  # there may be more of them
        owner.attributes.pop(name, None)
        getattr(owner, registry)[name] = value
        return NONE

    return run


def _hook(kind: str) -> Any:
    def run(interp: Interpreter, owner: ModuleValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
        owner.hooks.setdefault(kind, []).extend(args[:1])
        return Unknown()

    return run


def switch(owner: ModuleValue, training: bool, flags: list[Value], node: ast.AST | None) -> Value:
    """``train(flag)`` and ``eval()``, as far as constructors call them."""
    given = constant(flags[0]) if flags else training
    owner.switched = node
    for _, module in descendants(owner):
        module.training = given if isinstance(given, bool) else None
        module.attributes["training"] = Unknown(None, "bool") if module.training is None else Const(given)
    return owner


def _observe(enabled: bool) -> Any:
    def run(interp: Interpreter, owner: ModuleValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
        owner.attributes["observer_enabled"] = Const(enabled)
        return NONE

    return run


def _apply(interp: Interpreter, owner: ModuleValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """What is applied to all submodules only initialises values, as a rule."""
    name = args[0].name.rpartition(".")[2] if args and isinstance(args[0], External) else ""
    if name in OBSERVER_SWITCHES:
        for _, module in descendants(owner):
            _METHODS[name](interp, module, [], {})
    return owner


def _itself(interp: Interpreter, owner: ModuleValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return owner


def _requires_grad(
    interp: Interpreter, owner: ModuleValue, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    asked = args[0] if args else kwargs.get("requires_grad", TRUE)
    takes = constant(interp.settled(asked)) is not False
    for _, module in descendants(owner):
        for parameter in module.parameters.values():
            if isinstance(parameter, TensorValue):
                parameter.grad = takes
    return owner


def _append(interp: Interpreter, owner: ModuleValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
    for child in args:
        append(interp, owner, child)
    return owner


def _insert(interp: Interpreter, owner: ModuleValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
    index = constant(args[0]) if args else 0
    children = list(owner.children.values())
    children.insert(index if isinstance(index, int) else 0, args[1] if len(args) > 1 else Unknown())
    owner.children = {str(i): child for i, child in enumerate(children)}
    return NONE


def _extend(interp: Interpreter, owner: ModuleValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
    for contents in args:
        extend(interp, owner, contents)
    return owner


def _pop(interp: Interpreter, owner: ModuleValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
    key = constant(args[0]) if args else -1
    names = list(owner.children)
    name = (
        key
        if isinstance(key, str)
        else names[key]
        if isinstance(key, int) and -len(names) <= key < len(names)
        else None
    )
    return owner.children.pop(name, Unknown()) if name is not None else Unknown()


def _children(interp: Interpreter, owner: ModuleValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return ListValue(list(owner.children.values()), owner.open)


def _keys(interp: Interpreter, owner: ModuleValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return ListValue([Const(name) for name in owner.children], owner.open)


def _named_children(
    interp: Interpreter, owner: ModuleValue, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    return ListValue([TupleValue((Const(n), c)) for n, c in owner.children.items()], owner.open)


def _nothing(interp: Interpreter, owner: ModuleValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """Walks over all submodules or parameters only initialise values, as a rule."""
    return ListValue([])


_METHODS = {
    "register_buffer": _register("buffers", "buffer"),
    "register_parameter": _register("parameters", "parameter"),
    "add_module": _register("children", ""),
    "register_module": _register("children", ""),
    "register_forward_hook": _hook("forward"),
    "register_forward_pre_hook": _hook("forward_pre"),
    "apply": _apply,
    "disable_observer": _observe(False),
    "enable_observer": _observe(True),
    "append": _append,
    "extend": _extend,
    "update": _extend,
    "insert": _insert,
    "pop": _pop,
    "children": _children,
    "values": _children,
    "keys": _keys,
    "items": _named_children,
    "named_children": _named_children,
    "parameters": _nothing,
    "named_parameters": _nothing,
    "buffers": _nothing,
    "named_buffers": _nothing,
    "modules": _nothing,
    "named_modules": _nothing,
    "requires_grad_": _requires_grad,
    **dict.fromkeys(
        [
            "to",
            "cuda",
            "cpu",
            "float",
            "half",
            "double",
            "bfloat16",
            "type",
            "share_memory",
            "to_empty",
        ],
        _itself,
    ),
}
