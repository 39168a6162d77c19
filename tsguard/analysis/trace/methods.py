"""Methods of tensors, shapes and of the containers that hold them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import replace

from tsguard.analysis import values as py
from tsguard.analysis.export import breaks, data, ordering, sizes
from tsguard.analysis.export import calls as exported
from tsguard.analysis.python import classes
from tsguard.analysis.trace import (
    attributes,
    autograd_functions,
    conversions,
    counting,
    dtypes,
    fillings,
    kinds,
    layers,
    pieces,
    results,
    shaping,
    sorting,
)
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.iteration import rows_wanted, structure
from tsguard.analysis.trace.operators import as_text, report_number, tensor
from tsguard.analysis.trace.rulebook import VARIED
from tsguard.analysis.trace.uses import lost_sight, recorded, used
from tsguard.analysis.trace.values import (
    Derived,
    Fixed,
    Held,
    InputDict,
    Number,
    Opaque,
    Shape,
    Traced,
    depends,
    frozen,
    is_live,
    parts,
    size,
)
from tsguard.language import schemas

# A place in a text for a value in a format of its own: ``{:.3f}``.
_FORMATTED = re.compile(r"\{[^{}:]*:[^{}]")

Args = list[py.Value]
Kwargs = dict[str, py.Value]
Handler = Callable[["Tracer", py.TensorValue, Args, Kwargs, ast.AST], py.Value]

_CHANGING = frozenset(
    [
        "append", "appendleft", "extend", "extendleft", "insert", "pop", "popleft", "remove", "clear", "update",
        "setdefault", "popitem", "add", "discard", "sort", "reverse", "rotate", "__setitem__",
    ]
)  # fmt: skip

# Walks over the parameters of a module, and whether they give names as well.
_WALKS = {"parameters": False, "named_parameters": True}


def call(
    tracer: Tracer, name: str, receiver: py.Value, args: Args, kwargs: Kwargs, node: ast.AST | None
) -> py.Value | None:
    """The result of a method that is not read; None for one that is plain Python's."""
    node = node if node is not None else ast.Constant(None)
    kind, _, short = name.rpartition(".")
    if isinstance(receiver, py.ModuleValue):
        exported.of_module(tracer, short, receiver, args, node)
        if short in ("forward", "__call__") and kind != "method":
            own = classes.class_member(tracer, receiver.cls, "forward") if short == "__call__" else None
            if own is not None and isinstance(own[0], py.FunctionValue):
                return tracer.call(py.BoundMethod(own[0], receiver), args, kwargs, node)
            return layers.forward(tracer, receiver, args, kwargs, node, kind)
        named = _WALKS.get(short)
        return layers.parameters(tracer, receiver, named=named) if named is not None and not args else None
    if isinstance(receiver, py.ClassValue) and name == "torch.autograd.Function.apply":
        return autograd_functions.applied(tracer, receiver, args, kwargs, node)
    if isinstance(receiver, py.TensorValue):
        breaks.method(tracer, short, receiver, node)
        result = _of_tensor(tracer, short, receiver, args, kwargs, node)
        if isinstance(result, Traced) and result is not receiver:
            fillings.note(tracer, short, [receiver, *args], result)
        return shaping.of_call(tracer, short, [receiver, *args], kwargs, result)
    if isinstance(receiver, Shape):
        return _of_shape(tracer, short, receiver, node)
    if isinstance(receiver, Derived):
        return _of_derived(tracer, short, receiver, args, kwargs, node)
    if isinstance(receiver, py.ListValue) and short in ("index", "count") and args:
        ordering.looked_for(tracer, receiver.items, args[0], node)
    return _of_container(tracer, short, receiver, args, kwargs, node)


def _of_container(
    tracer: Tracer, name: str, receiver: py.Value, args: Args, kwargs: Kwargs, node: ast.AST
) -> py.Value | None:
    if isinstance(receiver, InputDict) and name in ("items", "keys", "values"):
        structure(tracer, receiver)
    if name in _CHANGING and tracer.state.mutate(tracer, receiver, clears=name == "clear"):
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


def _of_shape(tracer: Tracer, name: str, receiver: Shape, node: ast.AST) -> py.Value:
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


# Methods of a tensor that ask torch nothing which a trace records.
_UNRECORDED = frozenset(
    [
        "dim",
        "ndimension",
        "data_ptr",
        "element_size",
        "equal",
        "get_device",
        "storage_offset",
        "stride",
        "type",
        "is_complex",
        "is_contiguous",
        "is_floating_point",
        "is_pinned",
        "is_shared",
        "share_memory_",
    ]
)


def _of_derived(
    tracer: Tracer, name: str, receiver: Derived, args: Args, kwargs: Kwargs, node: ast.AST
) -> py.Value:
    if isinstance(receiver, Opaque) and tracer.tables.tensor.get(name) == "method" and name not in _CHANGING:
        return _of_tensor(tracer, name, Traced(origin=receiver.origin), args, kwargs, node)
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
        return size(receiver.origin.then(node)) if receiver.kind == "size" else tensor([receiver], node)
    if isinstance(receiver, Fixed):
        return Fixed(None, origin=receiver.origin.then(node), about=receiver.about)
    return Opaque(None, origin=receiver.origin.then(node)) if isinstance(receiver, Opaque) else receiver


def _of_tensor(
    tracer: Tracer, name: str, receiver: py.TensorValue, args: Args, kwargs: Kwargs, node: ast.AST
) -> py.Value:
    exported.called(tracer, f"method.{name}", [receiver, *args], kwargs, node)
    if name.endswith("_") and not name.endswith("__"):
        tracer.change(receiver)
    if name not in _UNRECORDED:
        recorded(tracer, receiver)
    handler = _TENSOR.get(name)
    if handler is not None:
        return handler(tracer, receiver, args, kwargs, node)
    values = [receiver, *args]
    if name in pieces.MAKERS:
        return pieces.made(tracer, name, values, kwargs, node)
    overloads = schemas.operators(tracer.tables.release).overloads(f"aten::{name}")
    if name in _OF_SIZES:
        kinds.used_as_sizes(tracer, args)
    if name in _FLEXIBLE or not overloads:
        used(tracer, [*args, *kwargs.values()], node)
        results.note_properties(tracer, kwargs, node)
        return tensor([*values, *kwargs.values()], node)
    return results.of_operator(tracer, overloads, values, kwargs, node)


# Methods that take sizes, or how often to repeat.
_OF_SIZES = frozenset(["view", "reshape", "expand", "repeat", "tile", "new_zeros", "new_ones", "new_empty"])

# Methods that Python calls with any number of sizes, which no schema shows.
_FLEXIBLE = frozenset(
    [
        "view",
        "reshape",
        "permute",
        "expand",
        "repeat",
        "tile",
        "new_zeros",
        "new_ones",
        "new_empty",
        "new_full",
        "flip",
        "movedim",
        "transpose",
        "contiguous",
        "clone",
        "detach",
        "float",
        "double",
        "half",
        "bfloat16",
        "int",
        "long",
        "short",
        "byte",
        "char",
        "bool",
        "cpu",
    ]
)


def _size(tracer: Tracer, receiver: py.TensorValue, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value:
    if not args and not kwargs:
        return attributes.shape_of(tracer, receiver, node)
    return attributes.size_of(tracer, receiver, args[0] if args else kwargs.get("dim", py.NONE), node)


def _rank(tracer: Tracer, receiver: py.TensorValue, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value:
    return attributes.property_of(tracer, receiver, "rank", node)


def _count(tracer: Tracer, receiver: py.TensorValue, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value:
    if isinstance(receiver, Traced) and receiver.of == "inputs":
        count = shaping.count(tracer, receiver)
        number = size(receiver.origin.then(node), dim=count, known=shaping.known_value(tracer.facts, count))
        number.unbacked = "" if count is None else count.unbacked
        return number
    return py.Unknown(None, "int")


def _length(tracer: Tracer, receiver: py.TensorValue, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value:
    return counting.length(tracer, receiver, node) or py.Unknown(None, "int")


def _resized(tracer: Tracer, receiver: py.TensorValue, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value:
    tracer.report("untraceable-call/resize", node)
    return tensor([receiver], node)


def _contents(name: str) -> Handler:
    def run(tracer: Tracer, receiver: py.TensorValue, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value:
        if isinstance(receiver, Traced):
            if name == "tolist":
                rows_wanted(tracer, receiver, node)
            return conversions.contents(tracer, receiver, name, node)
        hint = "list" if name == "tolist" else ""
        return Held(None, hint) if data.has_no_value(receiver) else py.Unknown(None, hint)

    return run


def _numpy(tracer: Tracer, receiver: py.TensorValue, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value:
    data.array_wanted(tracer, [receiver], node)
    return conversions.to_numpy(tracer, [receiver], {}, node)


def _layout(tracer: Tracer, receiver: py.TensorValue, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value:
    """Strides are plain numbers: nobody warns of them."""
    if isinstance(receiver, Traced) and receiver.of == "inputs":
        return frozen(receiver.origin.then(node), "size", "int", pending=True)
    return py.Unknown(None, "int")


def _property(about: str) -> Handler:
    def run(tracer: Tracer, receiver: py.TensorValue, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value:
        return attributes.property_of(tracer, receiver, about, node)  # type: ignore[arg-type]

    return run


def _of_dtype(name: str) -> Handler:
    def run(tracer: Tracer, receiver: py.TensorValue, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value:
        found = attributes.property_of(tracer, receiver, "dtype", node)
        told = dtypes.told(name, receiver.dtype)
        if isinstance(found, Fixed):
            return replace(found, hint="int" if name == "itemsize" else "bool", default=told)
        return told if told is not None else py.Unknown(None, "int" if name == "itemsize" else "bool")

    return run


def _type(tracer: Tracer, receiver: py.TensorValue, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value:
    if not args and not kwargs:
        attributes.asked_of_data(tracer, node.func if isinstance(node, ast.Call) else node)
        found = attributes.property_of(tracer, receiver, "dtype", node)
        return replace(found, hint="str", default=None) if isinstance(found, Fixed) else found
    return _moved(tracer, receiver, args, kwargs, node)


def _moved(tracer: Tracer, receiver: py.TensorValue, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value:
    """``x.to(...)``: what it is given of another input is that of the example."""
    given = [*args, *kwargs.values()]
    fixed = [v for v in given if isinstance(v, Fixed) and v.about in ("dtype", "device")]
    results.keep(tracer, fixed, node)
    for value in fixed:
        if tracer.varies(value.origin, value.about):
            tracer.report(VARIED[value.about], node, value.origin)
    if any(map(_names_gpu, given)):
        tracer.report("fixed-property/literal", node)
    return dtypes.of_dtype(tensor([receiver], node), dtypes.named(given))


def _names_gpu(value: py.Value) -> bool:
    name = value.name if isinstance(value, py.Atom) and value.kind == "device" else py.constant(value)
    return isinstance(name, str) and name.partition(":")[0] in ("cuda", "mps", "xpu", "hpu")


def _to_gpu(tracer: Tracer, receiver: py.TensorValue, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value:
    tracer.report("fixed-property/literal", node)
    return tensor([receiver], node)


def _constructed(
    tracer: Tracer, receiver: py.TensorValue, args: Args, kwargs: Kwargs, node: ast.AST
) -> py.Value:
    """``x.new(...)`` and ``x.new_tensor([...])`` take numbers as they are."""
    lost_sight(tracer, args)
    live = next((value for value in parts(args) if is_live(value)), None)
    if live is not None:
        assert isinstance(live, (Traced, Number))
        tracer.report("constant-from-values/constructor", node, live.origin)
    return py.TensorValue()


def _cast(dtype: str) -> Handler:
    def run(tracer: Tracer, receiver: py.TensorValue, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value:
        if (
            isinstance(receiver, Traced)
            and receiver.dtype == dtype
            and tracer.varies(receiver.origin, "dtype")
        ):
            receiver.recast = True
        return dtypes.of_dtype(tensor([receiver], node), dtype)

    return run


def _type_as(tracer: Tracer, receiver: py.TensorValue, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value:
    """After a cast that did nothing for the example, the trace takes its result for the input."""
    other = args[0] if args else py.NONE
    used(tracer, [other], node)
    if isinstance(other, Traced) and other.recast:
        tracer.report("varied-input/recast", node, other.origin)
    return tensor([receiver], node)


def _backward(
    tracer: Tracer, receiver: py.TensorValue, args: Args, kwargs: Kwargs, node: ast.AST
) -> py.Value:
    tracer.report("untraceable-call/gradients", node)
    return py.NONE


def _ignored(tracer: Tracer, receiver: py.TensorValue, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value:
    return py.Unknown()


_TENSOR: dict[str, Handler] = {
    "size": _size,
    "dim": _rank,
    "ndimension": _rank,
    "numel": _count,
    "nelement": _count,
    "__len__": _length,
    "item": _contents("item"),
    "tolist": _contents("tolist"),
    "numpy": _numpy,
    "__array__": _numpy,
    "stride": _layout,
    "is_floating_point": _of_dtype("is_floating_point"),
    "is_complex": _of_dtype("is_complex"),
    "is_signed": _of_dtype("is_signed"),
    "element_size": _of_dtype("itemsize"),
    "is_inference": _property("grad"),
    "is_contiguous": _property("layout"),
    "get_device": _property("device"),
    "type": _type,
    "to": _moved,
    "cuda": _to_gpu,
    "new": _constructed,
    "new_tensor": _constructed,
    "float": _cast("float32"),
    "double": _cast("float64"),
    "half": _cast("float16"),
    "long": _cast("int64"),
    "int": _cast("int32"),
    "bfloat16": _cast("bfloat16"),
    "short": _cast("int16"),
    "byte": _cast("uint8"),
    "char": _cast("int8"),
    "bool": _cast("bool"),
    "type_as": _type_as,
    "register_hook": _ignored,
    "data_ptr": _ignored,
    "storage_offset": _ignored,
    "backward": _backward,
    "resize_": _resized,
    "resize_as_": _resized,
    "storage": _ignored,
    "untyped_storage": _ignored,
}
