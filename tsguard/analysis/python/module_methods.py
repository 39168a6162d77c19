"""What the methods do that modules inherit from torch.nn."""

from __future__ import annotations

import ast
from typing import Any

from tsguard.analysis import optimized
from tsguard.analysis.python import ancestry, assignments, attributes, classes, own_parameters
from tsguard.analysis.python.context import Interpreter, Raised
from tsguard.analysis.python.library import descendants, initialize
from tsguard.analysis.python.module_containers import CHANGES
from tsguard.analysis.python.module_walks import WALKS, Handler, observe
from tsguard.analysis.values import (
    NONE,
    TRUE,
    BoundMethod,
    Const,
    External,
    ModuleValue,
    ObjectValue,
    TensorValue,
    Unknown,
    Value,
    constant,
    is_none,
)
from tsguard.report.records import replace

# No method of torch: what the handle of a hook does to its module.
_UNHOOK = "remove_backward_hook"


def method(
    interp: Interpreter, name: str, owner: Value, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    """The result of a method that a module inherits from torch.nn."""
    if not isinstance(owner, ModuleValue):
        return Unknown()
    base, _, short = name.rpartition(".")
    if short == "__init__":
        initialize(interp, owner, base, args, kwargs)
        _reset(interp, owner, base)
        return NONE
    hooked = _HOOKED.get(short)
    if hooked is not None and args and isinstance(constant(args[0]), str):
        return hooked(interp, owner, str(constant(args[0])), args[1:])
    handler = _METHODS.get(short)
    return handler(interp, owner, args, kwargs) if handler is not None else Unknown()


def _reset(interp: Interpreter, owner: ModuleValue, base: str) -> None:
    """A class's own ``reset_parameters``, which the constructors of torch's layers with weights call at last."""
    entry = interp.tables.modules.get(base)
    is_weighted = entry is not None and (entry["parameters"] or entry["buffers"])
    name = "_reset_parameters" if base in _RESET_PRIVATELY else "reset_parameters" if is_weighted else ""
    hook = classes.own_hook(interp, owner, name)
    if hook is not None:
        interp.call(BoundMethod(hook, owner), [], {}, None)


_RESET_PRIVATELY = frozenset({"torch.nn.MultiheadAttention", "torch.nn.Transformer"})


def _set(interp: Interpreter, owner: ModuleValue, name: str, args: list[Value]) -> Value:
    # One of the class's own has been called, and passes on what it was given.
    own = classes.own_hook(interp, owner, "__setattr__")
    for value in args[:1]:
        if own is None:
            interp.set_attribute(owner, name, value)
        else:
            attributes.set_on_module(interp, owner, name, value)
    return NONE


def _get(interp: Interpreter, owner: ModuleValue, name: str, args: list[Value]) -> Value:
    """As torch and Python find an attribute; the class's own ``__getattr__`` is not asked again.

    Raises:
        Raised: it has none of this name.
    """
    found = attributes.held_by_module(interp, owner, name)
    if found is None and not (owner.open or ancestry.has_unknown_base(interp, owner.cls)):
        raise Raised("AttributeError")
    return Unknown(attributes.of_object(owner, name)) if found is None else found


def _delete(interp: Interpreter, owner: ModuleValue, name: str, args: list[Value]) -> Value:
    assignments.unbind(owner, name)
    return NONE


_HOOKED = {"__setattr__": _set, "__getattr__": _get, "__getattribute__": _get, "__delattr__": _delete}


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
        value = own_parameters.registered(interp, value)
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
        owner.hooks.setdefault(kind, []).append(_argument(args, kwargs, 0, "hook"))
        return Unknown()

    return run


def _hook_backward(
    interp: Interpreter, owner: ModuleValue, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    """What comes back is a handle, by which the hook may be removed."""
    owner.backward_hooks += 1
    handle = ObjectValue(External("torch.utils.hooks.RemovableHandle"), open=True)
    handle.attributes["remove"] = BoundMethod(External(f"torch.nn.Module.{_UNHOOK}"), owner)
    return handle


def _unhook_backward(
    interp: Interpreter, owner: ModuleValue, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    owner.backward_hooks -= 1
    return NONE


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
        observe(owner, enabled)
        return NONE

    return run


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


def _compile(interp: Interpreter, owner: ModuleValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
    owner.attributes[optimized.SWITCH] = optimized.Optimized()
    return NONE


def _named(interp: Interpreter, owner: ModuleValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``self.get_submodule("layers.0")``, ``self.__getattr__("conv")``: what stands under a name.

    Raises:
        Raised: nothing does.
    """
    path = constant(interp.settled(args[0] if args else kwargs.get("target", NONE)))
    found: Value | None = owner
    for name in path.split(".") if isinstance(path, str) and path else ():
        found = None if found is None else interp.attribute(found, name)
    if found is None:
        raise Raised("AttributeError", None)
    return found if isinstance(path, str) else Unknown()


def _put(interp: Interpreter, owner: ModuleValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``self.set_submodule("layers.0", layer)``: in the place of what stands under a name.

    Raises:
        Raised: nothing does.
    """
    path = constant(interp.settled(_argument(args, kwargs, 0, "target")))
    above, _, name = path.rpartition(".") if isinstance(path, str) else ("", "", "")
    parent = _named(interp, owner, [Const(above)], {}) if name else owner
    if not name or not isinstance(parent, ModuleValue):
        owner.open = True
        return NONE
    interp.set_attribute(parent, name, _argument(args, kwargs, 1, "module"))
    return NONE


_METHODS: dict[str, Handler] = {
    "set_submodule": _put,
    **dict.fromkeys(("__getattr__", "get_buffer", "get_parameter", "get_submodule"), _named),
    "compile": _compile,
    **WALKS,
    **CHANGES,
    "register_buffer": _register("buffers", "buffer"),
    "register_parameter": _register("parameters", "parameter"),
    "add_module": _register("children", ""),
    "register_module": _register("children", ""),
    "register_forward_hook": _hook("forward"),
    "register_forward_pre_hook": _hook("forward_pre"),
    "register_backward_hook": _hook_backward,
    "register_full_backward_hook": _hook_backward,
    _UNHOOK: _unhook_backward,
    "disable_observer": _observe(False),
    "enable_observer": _observe(True),
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
