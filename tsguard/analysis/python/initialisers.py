"""Weight initialisers, whatever they are called: functions that do no more to modules than to set what their tensors hold.

Nothing that the analysis sees is other after a call than before, so it is not followed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tsguard.analysis.python import classes, library
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.python.library import descendants
from tsguard.analysis.python.quiet_functions import Quiet, quiet
from tsguard.analysis.values import (
    NONE,
    BoundMethod,
    External,
    FunctionValue,
    ModuleValue,
    ObjectValue,
    Partial,
    TensorValue,
    Value,
    is_none,
)
from tsguard.source.functions import FunctionNode, named_parameters, positional_parameters

Kwargs = dict[str, Value]

# What of the methods of torch.nn.Module reads, or sets what tensors hold.
_READING = frozenset(
    {
        *("__getitem__", "__iter__", "__len__", "buffers", "children", "extra_repr", "get_buffer"),
        *("get_parameter", "get_submodule", "items", "keys", "load_state_dict", "modules", "named_buffers"),
        *("named_children", "named_modules", "named_parameters", "parameters", "reset_parameters"),
        *("state_dict", "values", "zero_grad"),
    }
)


def given_back(
    interp: Interpreter, function: FunctionValue, args: list[Value], kwargs: Kwargs
) -> Value | None:
    """What a call gives that need not be followed; None where it may do more than to set what tensors hold."""
    given = [*args, *kwargs.values()]
    if not any(isinstance(value, (ModuleValue, TensorValue)) for value in given):
        return None
    told = quiet(interp, function)
    if told is None or told.gives is None:
        return None
    bound = _bound(function.node, args, kwargs)
    methods = None if bound is None else _methods(interp, told, bound)
    modules = list(dict.fromkeys(_modules(given)))
    if (
        bound is None
        or methods is None
        or not _are_quiet(interp, methods, [*modules, *_objects(given, modules)])
    ):
        return None
    for tensor in (*given, *(held for module in modules for held in module.parameters.values())):
        interp.change(tensor)
    return bound.get(told.gives, NONE)


def _bound(node: FunctionNode, args: list[Value], kwargs: Kwargs) -> Kwargs | None:
    """The arguments by the names of the parameters; None where a call is not as plain as that."""
    names = [parameter.arg for parameter, _ in positional_parameters(node)]
    known = {parameter.arg for parameter in named_parameters(node.args)}
    if node.args.vararg is not None or len(args) > len(names) or not kwargs.keys() <= known:
        return None
    spec = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    absent = {
        parameter.arg: NONE
        for parameter, default in (*positional_parameters(node), *spec)
        if isinstance(default, ast.Constant) and default.value is None
    }
    return {**absent, **dict(zip(names, args, strict=False)), **kwargs}


def _methods(interp: Interpreter, told: Quiet, bound: Kwargs) -> frozenset[str] | None:
    """The methods that it calls of what it is given, and that what it calls does; None where that may do more."""
    methods = told.methods
    for name in told.parameters:
        more = _called(interp, bound[name]) if name in bound else None
        if more is None:
            return None
        methods |= more
    return methods


def _called(interp: Interpreter, function: Value) -> frozenset[str] | None:
    """The same of a function that is called with whatever there is."""
    args: list[Value] = []
    kwargs: Kwargs = {}
    if isinstance(function, Partial):
        args, kwargs, function = list(function.args), function.kwargs, function.function
    if isinstance(function, BoundMethod):
        args, function = [function.receiver, *args], function.function
    if is_none(function) or (isinstance(function, External) and function.name.startswith("torch.nn.init.")):
        return frozenset()
    told = quiet(interp, function) if isinstance(function, FunctionValue) else None
    if told is None or not isinstance(function, FunctionValue):
        return None
    bound = _bound(function.node, args, kwargs)
    return None if bound is None else _methods(interp, told, bound)


def _modules(given: list[Value]) -> Iterator[ModuleValue]:
    for value in given:
        if isinstance(value, ModuleValue):
            yield from (module for _, module in descendants(value))


def _objects(given: list[Value], modules: list[ModuleValue]) -> Iterator[ObjectValue]:
    """What is given that is no module, and what modules hold of it."""
    for value in (*given, *(held for module in modules for held in module.attributes.values())):
        if type(value) is ObjectValue:
            yield value


def _are_quiet(interp: Interpreter, methods: frozenset[str], owners: list[ObjectValue]) -> bool:
    """Whether methods of these names do no more either, in the classes of what has one of its own."""
    kinds = {owner.cls: owner for owner in owners}
    seen, todo = set(methods), list(methods)
    while todo:
        name = todo.pop()
        for owner in kinds.values():
            more = _of_method(interp, owner, name)
            if more is None:
                return False
            todo += more - seen
            seen |= more
    return True


def _of_method(interp: Interpreter, owner: ObjectValue, name: str) -> frozenset[str] | None:
    """The methods that one of an object calls, if it has one of this name; None where that may do more."""
    own = classes.class_member(interp, owner.cls, name)
    if own is not None and not isinstance(own[0], External):
        return _called(interp, own[0])
    is_of_torch = own is not None or (
        isinstance(owner, ModuleValue) and library.member(interp, owner, name) is not None
    )
    return None if is_of_torch and name not in _READING else frozenset()
