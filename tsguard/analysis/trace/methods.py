"""Methods of modules, shapes and of the containers that hold tensors."""

from __future__ import annotations

import ast
import re

from tsguard.analysis import values as py
from tsguard.analysis.export import breaks, data, distributions, ordering, recording, sizes
from tsguard.analysis.export import calls as exported
from tsguard.analysis.python import classes
from tsguard.analysis.python.methods import CHANGING
from tsguard.analysis.trace import (
    autograd_functions,
    conversions,
    fillings,
    functions,
    kept_constants,
    layers,
    listed_shapes,
    outside,
    results,
    seeding,
    shaping,
    sorting,
    tensor_methods,
    writing,
)
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.iteration import structure
from tsguard.analysis.trace.operators import as_text, report_number, tensor
from tsguard.analysis.trace.origins import Origin
from tsguard.analysis.trace.shapes.extents import ANY
from tsguard.analysis.trace.uses import used
from tsguard.analysis.trace.values import (
    Derived,
    Fixed,
    InputDict,
    InputList,
    Number,
    Opaque,
    Shape,
    Traced,
    depends,
    frozen,
    size,
)
from tsguard.language import schemas
from tsguard.report.records import replace

# A place in a text for a value in a format of its own: ``{:.3f}``.
_FORMATTED = re.compile(r"\{[^{}:]*:[^{}]")

Args = list[py.Value]
Kwargs = dict[str, py.Value]

# Walks over the parameters of a module, and whether they give names as well.
_WALKS = {"parameters": False, "named_parameters": True}

# What registers a tensor by name, and the parameter that takes the tensor.
_REGISTERED = {"register_buffer": "tensor", "register_parameter": "param"}


def call(
    tracer: Tracer, name: str, receiver: py.Value, args: Args, kwargs: Kwargs, node: ast.AST | None
) -> py.Value | None:
    """The result of a method that is not read; None for one that is plain Python's."""
    node = node if node is not None else ast.Constant(None)
    kind, _, short = name.rpartition(".")
    if isinstance(receiver, py.ModuleValue):
        return _of_module(tracer, name, receiver, args, kwargs, node)
    if isinstance(receiver, py.ClassValue) and name == "torch.autograd.Function.apply":
        return autograd_functions.applied(tracer, receiver, args, kwargs, node)
    if isinstance(receiver, py.TensorValue):
        return _of_tensor(tracer, short, receiver, args, kwargs, node)
    if isinstance(receiver, Shape):
        return _of_shape(tracer, short, receiver, args, node)
    if isinstance(receiver, Derived):
        return _of_derived(tracer, short, receiver, args, kwargs, node)
    if kind in outside.RANDOM:
        return functions.call(tracer, name, args, kwargs, node)
    if name.startswith("torch.distributions."):
        distributions.asked(tracer, receiver, args, node)
        made = tensor([receiver, *args, *kwargs.values()], node)
        if distributions.draws(name):
            seeding.drawn(tracer, node)
        is_drawn = distributions.draws(name) and not depends(made)
        return Traced(origin=Origin("random numbers", node), of="random") if is_drawn else made
    if isinstance(receiver, py.ListValue) and short in ("index", "count") and args:
        ordering.looked_for(tracer, receiver.items, args[0], node)
    return _of_container(tracer, short, receiver, args, kwargs, node)


def _of_module(
    tracer: Tracer, name: str, receiver: py.ModuleValue, args: Args, kwargs: Kwargs, node: ast.AST
) -> py.Value | None:
    """The result of a method of torch.nn.Module."""
    kind, _, short = name.rpartition(".")
    exported.of_module(tracer, short, receiver, args, node)
    recording.refilled(tracer, short, receiver, node)
    if short in _REGISTERED:
        given = dict(zip(("name", _REGISTERED[short]), args, strict=False)) | kwargs
        name_given = py.constant(given.get("name", py.NONE))
        if isinstance(name_given, str):  # it is assigned, as an attribute is
            tracer.state.write(tracer, receiver, name_given, given.get(_REGISTERED[short], py.NONE))
    if short in ("forward", "__call__") and kind != "method":
        own = classes.class_member(tracer, receiver.cls, "forward") if short == "__call__" else None
        if own is not None and isinstance(own[0], py.FunctionValue):
            return tracer.call(py.BoundMethod(own[0], receiver), args, kwargs, node)
        return layers.forward(tracer, receiver, args, kwargs, node, kind)
    methods = tracer.tables.modules.get(kind, {}).get("methods", {})
    if methods.get(short, {}).get("static"):
        return results.of_schemas(
            tracer, tuple(map(schemas.parse, methods[short]["schemas"])), args, kwargs, node
        )
    named = _WALKS.get(short)
    return layers.parameters(tracer, receiver, named=named) if named is not None and not args else None


def _of_tensor(
    tracer: Tracer, name: str, receiver: py.TensorValue, args: Args, kwargs: Kwargs, node: ast.AST
) -> py.Value:
    breaks.method(tracer, name, receiver, node)
    result = tensor_methods.call(tracer, name, receiver, args, kwargs, node)
    if isinstance(result, Traced) and result is not receiver:
        fillings.note(tracer, name, [receiver, *args], result)
    result = shaping.of_call(tracer, name, [receiver, *args], kwargs, result)
    writing.viewed(tracer, name, receiver, result)
    if name == "new_tensor":
        kept_constants.made(tracer, name, args, kwargs, result, node)
    kept_constants.viewed(tracer, name, receiver, args, result)
    if not isinstance(receiver, Traced) and name.endswith("_") and not name.endswith("__"):
        writing.holds(tracer, receiver, result)
    return result


def _of_container(
    tracer: Tracer, name: str, receiver: py.Value, args: Args, kwargs: Kwargs, node: ast.AST
) -> py.Value | None:
    if isinstance(receiver, InputDict) and name in ("items", "keys", "values"):
        structure(tracer, receiver)
        if name != "keys" and receiver.open:
            other: py.Value = Traced(origin=receiver.origin, extent=ANY)
            held: list[py.Value] = [*receiver.items.values(), other]
            if name == "items":
                keys = [*map(py.Const, receiver.items), py.Unknown(None, "str")]
                held = [py.TupleValue(pair) for pair in zip(keys, held, strict=True)]
            return InputList(held, True, origin=receiver.origin)
    if name == "__setitem__" and len(args) == 2:
        tracer.set_item(py.mapped(receiver), *args)  # of a class of mappings, in what it holds
        return py.NONE
    if name in CHANGING and tracer.state.mutate(tracer, receiver, clears=name == "clear"):
        return py.NONE
    if isinstance(receiver, py.ListValue) and name == "sort":
        receiver.items[:] = sorting.ordered(tracer, receiver.items, kwargs, node, is_open=receiver.open)
        return py.NONE
    if isinstance(receiver, py.DictValue) and name in ("get", "pop") and args:
        return _looked_up(tracer, receiver, args, node)
    if isinstance(receiver, py.Const) and isinstance(receiver.value, str) and any(depends(a) for a in args):
        if name == "format" and _FORMATTED.search(receiver.value):
            data.formatted(tracer, args, node)
        return as_text(args, node)
    return None


def _looked_up(tracer: Tracer, receiver: py.DictValue, args: Args, node: ast.AST) -> py.Value | None:
    if isinstance(args[0], Number):
        found = tracer.by_size(receiver, args[0])
        if found is not None:
            return found
        if args[0].live and tracer.state.holds(receiver) and not receiver.items:
            return args[1] if len(args) > 1 else py.NONE  # a size is a new tensor each time
        if args[0].live:
            report_number(tracer, "key", args[0], node)
        else:
            used(tracer, args[:1], node)
        return next(iter(receiver.items.values()), py.Unknown())
    return (
        Traced(origin=receiver.origin.then(node))
        if isinstance(receiver, InputDict) and receiver.open
        else None
    )


def _of_shape(tracer: Tracer, name: str, receiver: Shape, args: Args, node: ast.AST) -> py.Value:
    if name in ("sort", "remove"):
        report_number(tracer, "extreme", size(receiver.origin), node)
    if name in listed_shapes.CHANGING:
        return listed_shapes.change(receiver, name, args)
    origin = receiver.origin.then(node)
    if name == "numel":
        sizes.wanted(tracer, "fixed-size", [size(origin)], node)
        return frozen(origin, "size", "int", pending=True)
    if name in ("count", "index"):
        report_number(tracer, "condition", size(receiver.origin), node)
        return frozen(origin, "size", "int")
    return py.Unknown()


# What a size answers while tracing, when it is a tensor without dimensions.
_OF_A_SIZE = {"numel": 1, "nelement": 1, "dim": 0, "ndimension": 0}


def _of_derived(
    tracer: Tracer, name: str, receiver: Derived, args: Args, kwargs: Kwargs, node: ast.AST
) -> py.Value:
    if isinstance(receiver, Opaque) and tracer.tables.tensor.get(name) == "method" and name not in CHANGING:
        return tensor_methods.call(tracer, name, Traced(origin=receiver.origin), args, kwargs, node)
    if isinstance(receiver, Number) and receiver.live:
        if name not in tracer.tables.tensor:
            tracer.report("unsupported-on-size/method", node, receiver.origin, function=name)
            return frozen(receiver.origin.then(node), receiver.kind)
        if name in _OF_A_SIZE:
            return py.Const(_OF_A_SIZE[name])
        if receiver.known is not None and name in ("item", "tolist"):
            return receiver.known
        if name in ("item", "tolist"):
            return conversions.contents(tracer, receiver, name, node)
        if receiver.kind == "size":
            return replace(size(receiver.origin.then(node)), natural=False)
        return tensor([receiver], node)
    if isinstance(receiver, Fixed):
        return Fixed(None, origin=receiver.origin.then(node), about=receiver.about)
    return Opaque(None, origin=receiver.origin.then(node)) if isinstance(receiver, Opaque) else receiver
