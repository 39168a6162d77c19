"""Methods of tensors."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tsguard.analysis import values as py
from tsguard.analysis.export import calls as exported
from tsguard.analysis.export import data
from tsguard.analysis.trace import (
    attributes,
    autograd_functions,
    conversions,
    counting,
    devices,
    dtype_questions,
    dtypes,
    kinds,
    pieces,
    results,
    shaping,
    unrecorded,
)
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.iteration import rows_wanted
from tsguard.analysis.trace.operators import tensor
from tsguard.analysis.trace.rulebook import VARIED
from tsguard.analysis.trace.uses import lost_sight, recorded, used
from tsguard.analysis.trace.values import (
    Fixed,
    Held,
    Number,
    Property,
    Traced,
    frozen,
    is_live,
    parts,
    size,
)
from tsguard.language import schemas
from tsguard.report.records import replace

Args = list[py.Value]
Kwargs = dict[str, py.Value]
Handler = Callable[["Tracer", py.TensorValue, Args, Kwargs, ast.AST], py.Value]

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


def call(
    tracer: Tracer, name: str, receiver: py.TensorValue, args: Args, kwargs: Kwargs, node: ast.AST
) -> py.Value:
    exported.called(tracer, f"method.{name}", [receiver, *args], kwargs, node)
    if name.endswith("_") and not name.endswith("__"):
        unrecorded.changed(tracer, receiver, [*args, *kwargs.values()], name)
    if name not in _UNRECORDED:
        recorded(tracer, receiver)
    handler = _TENSOR.get(name)
    if handler is not None:
        return handler(tracer, receiver, args, kwargs, node)
    values = [receiver, *args]
    if name in pieces.MAKERS:
        return pieces.made(tracer, name, values, kwargs, node)
    overloads = schemas.operators(tracer.tables.release).in_python(f"aten::{name}")
    if name.endswith("_") and results.draws(overloads):
        unrecorded.drawn(tracer, receiver)
    if name in _OF_SIZES:
        kinds.used_as_sizes(tracer, args)
    if name == "view" and args and isinstance(args[0], py.Atom) and not tracer.is_export:
        tracer.report("untraceable-call/function", node)  # x.view(torch.int32)
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
    """``x.resize_(n)``: the trace loses where the elements come from, and holds the example's sizes."""
    is_lost = isinstance(receiver, Traced) and receiver.of == "inputs"
    if is_lost or any(is_live(part) for part in parts([*args, *kwargs.values()])):
        tracer.report("untraceable-call/resize", node)
    return tensor([receiver], node)


def _written(tracer: Tracer, receiver: py.TensorValue, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value:
    """``x.apply_(f)``: a Python function makes other numbers, which the trace does not see."""
    if isinstance(receiver, Traced):
        tracer.report("detached-data/written", node, receiver.origin)
    else:
        tracer.gap(node, "what a Python function writes into a tensor is not followed")
    return receiver


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


def _property(name: str, about: Property) -> Handler:
    def run(tracer: Tracer, receiver: py.TensorValue, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value:
        return attributes.answer_about(tracer, receiver, name, about, node)

    return run


def _of_dtype(name: str) -> Handler:
    return lambda tracer, receiver, args, kwargs, node: dtype_questions.asked(tracer, name, receiver, node)


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
    devices.note(tracer, given, node)
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
    """``x.new(...)`` and ``x.new_tensor([...])`` take numbers as they are; of one, alone, or of a tensor, one is made."""
    if len(args) == 1 and (isinstance(args[0], Traced) or (is_live(args[0]) and _is_new_tensor(node))):
        return tensor(args, node)
    lost_sight(tracer, args)
    live = next((value for value in parts(args) if is_live(value)), None)
    if live is not None:
        assert isinstance(live, (Traced, Number))
        tracer.report("constant-from-values/constructor", node, live.origin)
    return py.TensorValue()


def _is_new_tensor(node: ast.AST) -> bool:
    function = node.func if isinstance(node, ast.Call) else None
    return isinstance(function, ast.Attribute) and function.attr == "new_tensor"


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
    autograd_functions.gradients_given(tracer, receiver, args[0] if args else kwargs.get("gradient"))
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
    "is_inference": _property("is_inference", "grad"),
    "is_contiguous": _property("is_contiguous", "layout"),
    "get_device": _property("get_device", "device"),
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
    "apply_": _written,
    "map_": _written,
    "resize_": _resized,
    "resize_as_": _resized,
    "storage": _ignored,
    "untyped_storage": _ignored,
}
