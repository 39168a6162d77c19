"""Calls while tracing: Python functions are followed, compiled and unread ones are not."""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Sequence

from tsguard.analysis import optimized, unread
from tsguard.analysis import values as py
from tsguard.analysis.budgets import FOREIGN_STEPS
from tsguard.analysis.export import breaks, sizes
from tsguard.analysis.export import calls as exported
from tsguard.analysis.python import ancestry, classes, copies, hooks, kept_calls
from tsguard.analysis.python import calls as python_calls
from tsguard.analysis.python.context import CHANGEABLE, Raised
from tsguard.analysis.python.following import Frame
from tsguard.analysis.trace import (
    cached_calls,
    compiled,
    functions,
    gradient_blocks,
    kinds,
    layers,
    methods,
    outside,
    scopes,
)
from tsguard.analysis.trace.context import LocalBudgetExceeded, Tracer
from tsguard.analysis.trace.joins import CALLED, joined
from tsguard.analysis.trace.operators import tensor
from tsguard.analysis.trace.uses import lost_sight
from tsguard.analysis.trace.values import (
    Either,
    Fixed,
    Opaque,
    Traced,
    made_of,
    origin_of,
    parts,
)
from tsguard.analysis.uniform_layers import begins_uniform
from tsguard.source.unparsing import unparsed

Args = list[py.Value]
Kwargs = dict[str, py.Value]

_PERHAPS_OPTIMIZED = (
    "the source does not tell whether torch.compile, which no trace may come upon, is disabled"
)

# Functions that keep their control flow in a trace, because torch compiles them.
_COMPILED = frozenset({"script", "script_if_tracing", "script_method"})


def call(
    tracer: Tracer, function: py.Value, args: Args, kwargs: Kwargs, node: ast.AST | None
) -> py.Value | None:
    """The result of a call that tracing changes; None for one that is plain Python's."""
    if isinstance(function, py.FunctionValue):
        return _function(tracer, function, args, kwargs, node)
    if isinstance(function, py.ClassValue) and ancestry.derives_from(tracer, function, "torch.Tensor"):
        tracer.gap(node, "what becomes of an instance of a subclass of torch.Tensor is not followed")
        exported.subclassed(tracer, args, node)
    if isinstance(function, py.ClassValue) and not tracer.is_own(function.module):
        return _object(tracer, function, args, kwargs, node)
    if isinstance(function, py.External):
        return functions.call(tracer, function.name, args, kwargs, node)
    if isinstance(function, py.BoundMethod) and isinstance(function.function, py.External):
        return methods.call(tracer, function.function.name, function.receiver, args, kwargs, node)
    if isinstance(function, Either) and all(isinstance(option, CALLED) for option in function.options):
        return _each(tracer, function.options, args, kwargs, node)
    if isinstance(function, Traced):
        kinds.used_as_object(tracer, function)
        tracer.gap(node, "the source does not tell whether an input that is called is a module or a function")
    if isinstance(function, optimized.Optimized):
        tracer.report("untraceable-call/optimized", node)
        return tensor([*args, *kwargs.values()], node)
    if isinstance(function, py.Unknown) and _takes_numbers(function, [*args, *kwargs.values()]):
        breaks.unread(tracer, function, node)
        return functions.of_compiled(tracer, [*args, *kwargs.values()], node)
    if isinstance(function, py.Unknown):
        tracer.unread(function, node)
        if function.unread is None and function.default is None and isinstance(node, ast.Call):
            outside.handed_function(tracer, unparsed(node.func), [*args, *kwargs.values()], node)
        breaks.unread(tracer, function, node)
        lost_sight(tracer, [*args, *kwargs.values()])
        origin = origin_of([*args, *kwargs.values(), function])
        return None if origin is None else Opaque(None, origin=origin.then(node))
    return None


def _each(
    tracer: Tracer, options: Sequence[py.Value], args: Args, kwargs: Kwargs, node: ast.AST | None
) -> py.Value:
    """What either of several gives of those that do not raise.

    Raises:
        Raised: all of them do.
    """
    results: list[py.Value] = []
    for position, option in enumerate(options, 1):
        try:
            with tracer.branching():
                results.append(tracer.call(option, list(args), dict(kwargs), node))
        except Raised:
            if position == len(options) and not results:
                raise
    return functools.reduce(joined, results)


def _takes_numbers(function: py.Unknown, values: Args) -> bool:
    """Whether compiled code of another package is given numbers and texts alone, of which it makes others."""
    held = (py.TensorValue, py.ModuleValue, py.ObjectValue, py.FunctionValue, Opaque)
    return unread.is_compiled(function) and not any(isinstance(part, held) for part in parts(values))


def _function(
    tracer: Tracer, function: py.FunctionValue, args: Args, kwargs: Kwargs, node: ast.AST | None
) -> py.Value:
    if optimized.MARK in function.marks:
        tracer.report("untraceable-call/optimized", node or function.node)
    if optimized.PERHAPS in function.marks:
        tracer.gap(node or function.node, _PERHAPS_OPTIMIZED)
    if isinstance(function.node, ast.AsyncFunctionDef):
        tracer.gap(node or function.node, "coroutines are not followed")
    if function.marks & _COMPILED:
        run = (
            (lambda: _run(tracer, function, args, kwargs, node)) if tracer.is_akin(function.module) else None
        )
        return compiled.called(tracer, function, args, kwargs, run, node)
    if len(tracer.frames) >= tracer.deepest:
        return py.Unknown(None, unread=unread.depth(function.module, function.node))
    if not tracer.is_akin(function.module):
        return _foreign(tracer, function, args, kwargs, node)
    return _run(tracer, function, args, kwargs, node)


def _foreign(
    tracer: Tracer, function: py.FunctionValue, args: Args, kwargs: Kwargs, node: ast.AST | None
) -> py.Value:
    """A function of another package: followed as far as that is cheap; a black box, and a gap, else."""
    given = [*args, *kwargs.values()]
    if id(function.node) in tracer.black_boxes:
        return _hidden(tracer, function, given, node)
    is_kept = not any(isinstance(value, CHANGEABLE) for value in given)
    key = (tracer.assumed, tracer.memory.key(function, args, kwargs)) if is_kept else None
    remembered = None if key is None else tracer.memory.get(key)
    if remembered is not None:
        return remembered
    events, facts, gaps, own = dict(tracer.events), tracer.facts.copy(), len(tracer.gaps), tracer.own_calls
    exports = tracer.exports.keys()
    try:
        with (
            tracer.apart(given),
            tracer.allowed(sys.maxsize if _is_forward(function) else FOREIGN_STEPS),
        ):
            result = _run(tracer, function, args, kwargs, node)
    except (Raised, LocalBudgetExceeded) as ended:
        del tracer.gaps[gaps:]
        if isinstance(ended, Raised):
            tracer.exports.back_to(exports)
        elif tracer.own_calls == own:
            tracer.black_boxes.add(id(function.node))
        tracer.events, tracer.facts = events, facts
        return _hidden(tracer, function, given, node)
    if (
        key is not None
        and result not in given
        and not any(isinstance(p, CHANGEABLE) for p in parts([result]))
    ):
        tracer.memory.put(key, result)
    return result


def _is_forward(function: py.FunctionValue | None) -> bool:
    """Whether a function is a module's forward, or a decorator's wrapper around one."""
    while function is not None and function.name != "forward":
        function = function.wrapped
    return function is not None


def _hidden(tracer: Tracer, function: py.FunctionValue, given: Args, node: ast.AST | None) -> py.Value:
    """What a function gives of which nothing is known but what it is given."""
    _hide(tracer, function, node)
    lost_sight(tracer, given)
    origin = origin_of(given)
    return py.Unknown() if origin is None else Opaque(None, origin=origin.then(node))


def _object(
    tracer: Tracer, cls: py.ClassValue, args: Args, kwargs: Kwargs, node: ast.AST | None
) -> py.Value | None:
    """An object that a class of another package makes of constants, as it was first; None for any other."""
    key = kept_calls.key_of(cls, args, kwargs) if args or kwargs else None
    if key is None or ancestry.is_module_class(tracer, cls):
        return None
    if key not in tracer.results:
        made = kept_calls.object_of(tracer, cls, args, kwargs)
        if made is None:
            made = python_calls.construct(tracer, cls, args, kwargs, node)
        if not isinstance(made, py.ObjectValue):
            return made
        tracer.results[key] = made
    return copies.copy(tracer.results[key])


def _hide(tracer: Tracer, function: py.FunctionValue, node: ast.AST | None) -> None:
    """Note that what a function of another package does is not known."""
    name = f"{function.owner.name}.{function.name}" if function.owner is not None else function.name
    tracer.gap(node, f"{name} could not be analysed completely")


def _run(
    tracer: Tracer, function: py.FunctionValue, args: Args, kwargs: Kwargs, node: ast.AST | None
) -> py.Value:
    part = args[0] if args and function.name == "forward" and isinstance(args[0], py.ModuleValue) else None
    tracer.own_calls += tracer.is_own(function.module)
    if function.name == "forward":
        kinds.read_ahead(tracer, function, args)
    if "cached" in function.marks:
        sizes.wanted(tracer, "lost-size/key", [*args, *kwargs.values()], node)
        args, kwargs = [_told(value) for value in args], {key: _told(value) for key, value in kwargs.items()}
        return cached_calls.once(
            tracer, function, args, kwargs, lambda: _followed(tracer, function, args, kwargs, part, node)
        )
    return _followed(tracer, function, args, kwargs, part, node)


def _followed(
    tracer: Tracer,
    function: py.FunctionValue,
    args: Args,
    kwargs: Kwargs,
    part: py.ModuleValue | None,
    node: ast.AST | None,
) -> py.Value:
    tracer.ran_code.add(function.node)
    with tracer.running(
        Frame(_label(function, args), function.module, tracer.place(node), part, function.node)
    ) as frame:
        try:
            results = [python_calls.call_function(tracer, function, args, kwargs, node)]
            if isinstance(function.node, ast.Lambda) and len(tracer.frames) == 1:
                tracer.outputs.append((frame, function.node.body, results[0]))
        except Raised:
            if not frame.returned:
                raise
            results = []  # this way raises, others have returned
    if tracer.program.is_generator(function):
        value = _yielded(results, ended_early=bool(frame.returned))
    else:
        value = functools.reduce(tracer.join, [*results, *frame.returned])
    given = [*args, *kwargs.values()]
    gap = value.unread if type(value) is py.Unknown and not unread.is_of_library(value.term) else None
    if gap is not None:
        tracer.note(gap)
    gradient_blocks.returned(tracer, function, value, node)
    value = made_of(value, given, node)
    origin = origin_of(given)
    generated = type(value) is py.Unknown and tracer.program.is_generator(function)
    return Opaque(None, origin=origin.then(node)) if generated and origin is not None else value


def _told(value: py.Value) -> py.Value:
    """A rank that is the same for every input as that number, by which results are kept."""
    if isinstance(value, Fixed) and value.about == "rank" and value.default is not None:
        return value.default
    return value


def _yielded(results: Args, *, ended_early: bool) -> py.Value:
    """What a generator gives: what its function returns is no part of that, but may cut it short."""
    value = results[0] if results else py.Unknown()
    if isinstance(value, py.ListValue):
        value.open = value.open or ended_early
    return value


def _label(function: py.FunctionValue, args: Args) -> str:
    receiver = args[0] if args and function.owner is not None else None
    if isinstance(receiver, py.ObjectValue):
        return f"{getattr(receiver.cls, 'name', '')}.{function.name}"
    return function.name


def call_module(
    tracer: Tracer, module: py.ModuleValue, args: Args, kwargs: Kwargs, node: ast.AST | None
) -> py.Value:
    """The result of calling a module, its forward hooks included."""
    tracer.ran.add(module.cls)
    own_call = classes.class_member(tracer, module.cls, "__call__")
    if own_call is not None and isinstance(own_call[0], py.FunctionValue):
        return tracer.call(classes.bind(own_call[0], module, module.cls), args, kwargs, node)
    if optimized.SWITCH in module.attributes:
        tracer.report("untraceable-call/optimized", node or tracer.node)
    tracer.state_met = tracer.state_met or bool(module.parameters or module.buffers)
    has_parameters = any(not py.is_none(held) for held in module.parameters.values())
    if has_parameters and id(module) not in tracer.state.owned:
        if not (isinstance(module.cls, py.External) and begins_uniform(module.cls.name)):
            tracer.report("untraced-value/module", node)
    elif id(module) not in tracer.state.registered:
        _ask_parameters(tracer, module, node)
    for hook in _hooks(module, "forward_pre"):
        changed = tracer.call(hook, [module, *hooks.arguments(hook, args, kwargs)], {}, node)
        if hooks.takes_keywords(hook, 2) and isinstance(changed, py.TupleValue) and len(changed.items) == 2:
            changed = changed.items[0]
        if not py.is_none(changed):
            args = list(changed.items) if isinstance(changed, py.TupleValue) else [changed]
    if module.scripted:
        exported.scripted(tracer, module, node)
        return compiled.module_called(tracer, module, [*args, *kwargs.values()], node)
    given = [*args, *kwargs.values()]
    result = scopes.within(tracer, module, given, lambda: _forward(tracer, module, args, kwargs, node))
    for hook in _hooks(module, "forward"):
        changed = tracer.call(hook, [module, *hooks.arguments(hook, args, kwargs, result)], {}, node)
        result = result if py.is_none(changed) else changed
    return result


def _ask_parameters(tracer: Tracer, module: py.ModuleValue, node: ast.AST | None) -> None:
    """A module that was there before but is no submodule: a trace takes its parameters only if they are frozen."""
    if any(isinstance(p, py.TensorValue) and p.takes_gradients for p in module.parameters.values()):
        gap = unread.parameters(tracer.module, node or tracer.target.node)
        tracer.exports.harmless.add(gap.key)
        tracer.note(gap)


def _hooks(module: py.ModuleValue, kind: str) -> list[py.Value]:
    """The hooks of a module that are code of Python, but for those that torch's own functions register."""
    return [hook for hook in module.hooks.get(kind, ()) if not isinstance(hook, py.External)]


def _forward(
    tracer: Tracer, module: py.ModuleValue, args: Args, kwargs: Kwargs, node: ast.AST | None
) -> py.Value:
    found = classes.class_member(tracer, module.cls, "forward")
    own = module.attributes.get("forward")
    if found is None and own is None:
        return layers.forward(tracer, module, args, kwargs, node)
    if classes.class_member(tracer, module.cls, "_slow_forward") is not None:
        tracer.report("untraceable-call/slow-forward", node or tracer.target.node)
    key = (tracer.assumed, tracer.memory.key(module, args, kwargs))
    remembered = tracer.memory.get(key)
    if remembered is not None and not tracer.scopes:
        return remembered
    if own is None and found is not None:
        own = classes.bind(found[0], module, module.cls)
    value = tracer.call(own or py.Unknown(), args, kwargs, node)
    tracer.memory.put(key, value)
    return value
