"""Modules as they are called: their hooks, their forward, and what torch's own layers do."""

from __future__ import annotations

import ast

from tsguard.analysis import unread
from tsguard.analysis.mode import inputs, switching, uses
from tsguard.analysis.mode.context import ModeInterpreter
from tsguard.analysis.python import ancestry, classes, hooks
from tsguard.analysis.python.library import descendants
from tsguard.analysis.values import (
    FALSE,
    TRUE,
    BoundMethod,
    Const,
    External,
    FunctionValue,
    ListValue,
    ModuleValue,
    TensorValue,
    TupleValue,
    Unknown,
    Value,
    constant,
)
from tsguard.language.modes import LAYERS, observes


def run_target(walk: ModeInterpreter, subject: Value) -> None:
    """Call the target as a user would."""
    if isinstance(subject, ModuleValue):
        own_call = classes.class_member(walk, subject.cls, "__call__")
        forward = classes.class_member(walk, subject.cls, "forward") or own_call
        args, kwargs = (
            inputs.of(walk, forward[0], bound=True) if forward is not None else ([TensorValue()], {})
        )
        result = call(walk, subject, args, kwargs, walk.target.node)
        uses.check_result(walk, result)
    elif isinstance(subject, FunctionValue):
        args, kwargs = inputs.of(walk, subject, bound=False)
        walk.call(subject, args, kwargs, walk.target.node)
    else:
        gap = subject.unread if isinstance(subject, Unknown) else None
        walk.unread(gap or unread.use(walk.target.module, walk.target.node))


def call(
    walk: ModeInterpreter,
    module: ModuleValue,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST | None,
) -> Value:
    """The result of calling a module; a second call of it shows nothing new."""
    walk.show()
    key = (module, walk.mode)
    known = walk.done.get(key)
    if known is not None:
        walk.depend(known[1])
        return known[0]
    walk.done[key] = (TensorValue(), ())
    begun = len(walk.dependent)
    result = _result(walk, module, args, kwargs, node)
    walk.done[key] = (result, tuple(walk.dependent[begun:]))
    return result


def _result(
    walk: ModeInterpreter,
    module: ModuleValue,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST | None,
) -> Value:
    """What a module returns, from memory if one like it was called before and changed nothing."""
    if isinstance(module.cls, External) or not walk.tree.is_plain or walk.tree.is_switching:
        return _followed(walk, module, args, kwargs, node)
    given = [*args, *kwargs.values()]
    key = (*kwargs, walk.memory.key(module, given, walk.mode, walk.ways(module, node)))
    known = walk.memory.get(key, module)
    if known is not None:
        walk.depend(known[1])
        return known[0]
    begun, changes = len(walk.dependent), walk.changes
    result = _followed(walk, module, args, kwargs, node)
    if walk.changes == changes:
        walk.memory.put(key, module, result, walk.dependent[begun:])
    return result


def _followed(
    walk: ModeInterpreter,
    module: ModuleValue,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST | None,
) -> Value:
    if module.hooks or module.parametrized or "parametrizations" in module.children:
        _hooks(walk, module, "forward_pre", args, kwargs, node)
    forward = walk.attribute(module, "forward")
    if isinstance(forward, BoundMethod) and forward.function == External("torch.nn.Module.forward"):
        own_call = classes.class_member(walk, module.cls, "__call__")
        forward = forward if own_call is None else classes.bind(own_call[0], module, module.cls)
    if forward is None or isinstance(forward, Unknown):
        _opaque(walk, module, node)
        result: Value = TensorValue()
    else:
        result = walk.call(forward, args, kwargs, node)
    if module.hooks:
        _hooks(walk, module, "forward", args, kwargs, node, result)
    return result


def _hooks(
    walk: ModeInterpreter,
    module: ModuleValue,
    kind: str,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST | None,
    *result: Value,
) -> None:
    for hook in module.hooks.get(kind, ()):
        if isinstance(hook, External):
            if hook.name == "torch.nn.utils.spectral_norm":
                uses.power_iteration(walk, module, node)
        else:
            walk.call(hook, [module, *hooks.arguments(hook, args, kwargs, *result)], {}, node)
    if kind == "forward_pre":
        if any(name.endswith("parametrizations.spectral_norm") for name in module.parametrized.values()):
            uses.power_iteration(walk, module, node)
        held = module.children.get("parametrizations")
        for parametrization in held.children.values() if isinstance(held, ModuleValue) else ():
            walk.call(parametrization, [TensorValue()], {}, node)


def _opaque(walk: ModeInterpreter, module: ModuleValue, node: ast.AST | None) -> None:
    """A module whose forward is not read: described by a table, or unknown."""
    name = next((base.name for base in ancestry.mro(walk, module.cls) if isinstance(base, External)), "")
    if observes(name):
        if constant(module.attributes.get("observer_enabled", TRUE)) is not False:
            uses.observing(walk, module, name, node)
        return
    gap = ancestry.without_forward(walk, module.cls, walk.module, node or walk.target.node)
    if gap is not None:
        walk.unread(gap)


def forward_of_library(
    walk: ModeInterpreter, base: str, module: ModuleValue, args: list[Value], node: ast.AST | None
) -> Value:
    """What ``forward`` of a class of torch.nn does, on a module of it or of a subclass."""
    if base == "torch.nn.Sequential":
        value = args[0] if args else TensorValue()
        for child in module.children.values():
            value = walk.call(child, [value], {}, node)
        return value
    for layer in walk.tree.clones_in(module):
        walk.call(layer, args, {}, node)
    use = LAYERS.get(base)
    if use is not None:
        uses.layer(walk, use, base, module, node)
    elif base in ancestry.WITHOUT_FORWARD:
        _opaque(walk, module, node)
    return result_of(base)


def result_of(base: str) -> Value:
    """What a layer returns: recurrent layers and attention return pairs."""
    if base in ("torch.nn.RNN", "torch.nn.GRU", "torch.nn.MultiheadAttention"):
        return TupleValue((TensorValue(), TensorValue()))
    if base == "torch.nn.LSTM":
        return TupleValue((TensorValue(), TupleValue((TensorValue(), TensorValue()))))
    return TensorValue()


def method(
    walk: ModeInterpreter,
    name: str,
    owner: ModuleValue,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST | None,
) -> Value | None:
    """Methods that modules have from torch.nn, as far as they matter here; None for the rest."""
    base, _, short = name.rpartition(".")
    if short == "forward":
        return forward_of_library(walk, base, owner, args, node)
    if short == "__call__":
        return call(walk, owner, args, kwargs, node)
    if short == "train":
        switching.set_flag(walk, owner, args[0] if args else kwargs.get("mode", TRUE))
        return owner
    if short == "eval":
        train = walk.attribute(owner, "train")
        return switching.call(walk, train, [FALSE], node) if train is not None else owner
    if short == "modules":
        return ListValue([module for _, module in descendants(owner)])
    if short == "named_modules":
        return ListValue([TupleValue((Const(path), module)) for path, module in descendants(owner)])
    if short in ("parameters", "buffers"):
        return ListValue([TensorValue(short[:-1])], open=True)
    if short in ("named_parameters", "named_buffers"):
        return ListValue([TupleValue((Unknown(None, "str"), TensorValue(short[6:-1])))], open=True)
    return None
