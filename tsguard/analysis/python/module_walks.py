"""Walks over the submodules, parameters and buffers of a module, and what is applied to all submodules."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tsguard.analysis.python import ancestry, initialising
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.python.library import CONTAINERS, OBSERVER_SWITCHES, descendants
from tsguard.analysis.values import (
    TRUE,
    BoundMethod,
    Const,
    External,
    FunctionValue,
    ListValue,
    ModuleValue,
    TensorValue,
    TupleValue,
    Value,
    constant,
    is_none,
)

Handler = Callable[[Interpreter, ModuleValue, list[Value], dict[str, Value]], Value]


def _children(interp: Interpreter, owner: ModuleValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return ListValue(list(owner.children.values()), owner.open)


def _keys(interp: Interpreter, owner: ModuleValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return ListValue([Const(name) for name in owner.children], owner.open)


def _named_children(
    interp: Interpreter, owner: ModuleValue, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    return ListValue([TupleValue((Const(n), c)) for n, c in owner.children.items()], owner.open)


def _modules(interp: Interpreter, owner: ModuleValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return ListValue([module for _, module in descendants(owner)], _is_open(owner))


def _named_modules(
    interp: Interpreter, owner: ModuleValue, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    named = [TupleValue((Const(path), module)) for path, module in descendants(owner)]
    return ListValue(list(named), _is_open(owner))


def _is_open(owner: ModuleValue) -> bool:
    """Whether there may be submodules that are not known."""
    return any(
        module.open or not all(isinstance(c, ModuleValue) or is_none(c) for c in module.children.values())
        for _, module in descendants(owner)
    )


def _tensors(registry: str, *, named: bool) -> Handler:
    """``parameters()`` and the like; some layers may have more of them than the tables describe."""
    place = 1 if named else 0

    def run(interp: Interpreter, owner: ModuleValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
        found: list[Value] = []
        deep = args[place] if len(args) > place else kwargs.get("recurse", TRUE)
        recurses = constant(interp.settled(deep)) is not False
        walked = descendants(owner) if recurses else [("", owner)]
        for path, module in walked:
            for name, tensor in getattr(module, registry).items():
                if isinstance(tensor, TensorValue):
                    shown = Const(f"{path}.{name}" if path else name)
                    found.append(TupleValue((shown, tensor)) if named else tensor)
        is_told = all(_tells_all(interp, module, registry) for _, module in walked)
        return ListValue(found, open=not is_told or (recurses and _is_open(owner)))

    return run


def _tells_all(interp: Interpreter, module: ModuleValue, registry: str) -> bool:
    """Whether a module holds no other parameters, or buffers, than those that are known."""
    if module.hooks or module.parametrized or module.open:
        return False
    bases = (base.name for base in ancestry.mro(interp, module.cls) if isinstance(base, External))
    layer = next((base for base in bases if base != "builtins.object"), "torch.nn.Module")
    if layer == "torch.nn.Module" or layer in CONTAINERS:
        return True
    entry = interp.tables.modules.get(layer)
    return entry is not None and not entry["modules"] and registry == "parameters"


def _apply(interp: Interpreter, owner: ModuleValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A function is called with each submodule, then with the module itself."""
    function = args[0] if args else kwargs.get("fn")
    followed = function.function if isinstance(function, BoundMethod) else function
    if function is None or (isinstance(followed, FunctionValue) and _only_initialises(followed)):
        return owner
    name = function.name.rpartition(".")[2] if isinstance(function, External) else ""
    for _, module in reversed(descendants(owner)):
        if name in OBSERVER_SWITCHES:
            observe(module, name == "enable_observer")
        else:
            interp.call(function, [module], {}, None)
    return owner


def observe(module: ModuleValue, enabled: bool) -> None:
    """Switch what a module of torch.ao.quantization observes on or off."""
    module.attributes["observer_enabled"] = Const(enabled)


def _only_initialises(function: FunctionValue) -> bool:
    return isinstance(function.node, ast.FunctionDef) and initialising.sets_values(function.node.body)


WALKS: dict[str, Handler] = {
    "children": _children,
    "values": _children,
    "keys": _keys,
    "items": _named_children,
    "named_children": _named_children,
    "modules": _modules,
    "named_modules": _named_modules,
    "parameters": _tensors("parameters", named=False),
    "named_parameters": _tensors("parameters", named=True),
    "buffers": _tensors("buffers", named=False),
    "named_buffers": _tensors("buffers", named=True),
    "apply": _apply,
}
