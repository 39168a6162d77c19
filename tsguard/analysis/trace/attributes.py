"""Attributes of traced values: shapes stay symbolic, other properties are constants."""

from __future__ import annotations

import ast

from tsguard.analysis import values as py
from tsguard.analysis.export import attributes as exported
from tsguard.analysis.export import distributions
from tsguard.analysis.export import types as exported_types
from tsguard.analysis.python import attributes as python_attributes
from tsguard.analysis.python import classes
from tsguard.analysis.trace import devices, dtypes, kept_constants, outside, shaping, unrecorded
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.guards import is_within
from tsguard.analysis.trace.operators import tensor
from tsguard.analysis.trace.origins import Origin
from tsguard.analysis.trace.shapes.dims import Dim
from tsguard.analysis.trace.shapes.extents import Extent, known
from tsguard.analysis.trace.shapes.operation import extent_of
from tsguard.analysis.trace.uses import recorded
from tsguard.analysis.trace.values import (
    Derived,
    Fixed,
    InputRecord,
    Number,
    Opaque,
    Property,
    Shape,
    Traced,
    Untraced,
    frozen,
    frozen_again,
    parts,
    plainly,
    size,
)
from tsguard.report.records import replace
from tsguard.source.walking import walked

_PROPERTIES: dict[str, Property] = {
    "dtype": "dtype",
    "device": "device",
    "is_cuda": "device",
    "is_cpu": "device",
    "is_mps": "device",
    "is_xpu": "device",
    "is_xla": "device",
    "is_meta": "device",
    "layout": "layout",
    "is_sparse": "layout",
    "is_sparse_csr": "layout",
    "is_mkldnn": "layout",
    "is_nested": "layout",
    "is_quantized": "dtype",
    "ndim": "rank",
    "itemsize": "dtype",
    "requires_grad": "grad",
    "is_leaf": "grad",
}
# What is not dense is rarely traced, and then with another layout for all that follows.
# And the example lies where the linter is: its trace is one of the CPU.
_OF_EXAMPLE: dict[str, py.Value] = {
    "device": py.Atom("device", "cpu"),
    "is_cpu": py.TRUE,
    "is_cuda": py.FALSE,
    "is_mps": py.FALSE,
    "is_xpu": py.FALSE,
    "is_xla": py.FALSE,
    "is_meta": py.FALSE,
    "layout": py.Atom("layout", "strided"),
    "is_sparse": py.FALSE,
    "is_sparse_csr": py.FALSE,
    "is_mkldnn": py.FALSE,
    "is_nested": py.FALSE,
    "is_quantized": py.FALSE,
}


def _of_size(tracer: Tracer, owner: Shape | Number, name: str) -> py.Value:
    if isinstance(owner, Number) and not owner.live and name in _OF_ARRAYS | _OF_NUMBERS:
        return frozen_again(owner, tracer.node)
    return py.BoundMethod(py.External(f"method.{name}"), owner)


# What NumPy's arrays, and numbers, have beside methods.
_OF_ARRAYS = frozenset({"T", "dtype", "flat", "itemsize", "nbytes", "ndim", "shape", "size"})
_OF_NUMBERS = frozenset({"denominator", "imag", "numerator", "real"})


def get(tracer: Tracer, owner: py.Value, name: str) -> py.Value | None:
    """An attribute, or None where the value certainly has none of this name."""
    if isinstance(owner, py.TensorValue):
        return _of_tensor(tracer, owner, name)
    if isinstance(owner, (Shape, Number)):
        return _of_size(tracer, owner, name)
    if isinstance(owner, Opaque):
        return _of_opaque(tracer, owner, name)
    if isinstance(owner, Fixed):
        return _of_fixed(owner, name)
    if isinstance(owner, (Derived, Untraced)):
        return owner
    if isinstance(owner, InputRecord) and not hasattr(tuple, name):
        tracer.report("untraceable-input/named-tuple", tracer.node, name=owner.name)
    if isinstance(owner, py.ModuleValue) and name == "training":
        return Fixed(None, "bool", py.FALSE, about="mode")
    if isinstance(owner, (py.ModuleReference, py.External)):
        return tracer.plain.attribute(owner, name)
    drawing = distributions.method(owner, name) or outside.method(owner, name)
    value = drawing or python_attributes.get(tracer, owner, name)
    outside.asked(tracer, owner, value)
    if isinstance(owner, py.ClassValue):
        tracer.state.read_class(tracer, owner, name, value)
    if isinstance(owner, py.ObjectValue):
        tracer.state.read(tracer, owner, name, value)
        if name not in owner.attributes and isinstance(value, py.Const):
            _read_class(tracer, owner.cls, name)
    return _met(tracer, owner, name, value)


def _read_class(tracer: Tracer, cls: py.Value, name: str) -> None:
    """An instance is asked for a constant of its class."""
    found = classes.class_member(tracer, cls, name)
    if found is not None and isinstance(found[1], py.ClassValue):
        tracer.state.read_class(tracer, found[1], name, found[0])


def _met(tracer: Tracer, owner: py.Value, name: str, value: py.Value | None) -> py.Value | None:
    """An attribute as the trace has it: tensors may be state, or constants that it refuses."""
    if isinstance(value, py.TensorValue) and not isinstance(value, Traced):
        return _held(tracer, owner, name, value)
    if isinstance(value, (py.ListValue, py.TupleValue, py.DictValue)) and isinstance(owner, py.ModuleValue):
        _ask_container(tracer, name, value)
    return value


def _ask_container(tracer: Tracer, name: str, container: py.Value) -> None:
    """Report a plain container that holds parameters which no module of the target has registered."""
    for part in parts([container]):
        takes_gradients = type(part) is py.TensorValue and part.takes_gradients
        if takes_gradients and id(part) not in tracer.state.registered:
            tracer.report("untraceable-call/constant", tracer.node, name=f"self.{name}")
            return


def _is_of_this_call(tracer: Tracer, owner: py.Value, name: str) -> bool:
    """Whether an attribute holds what this call has put there, on every way here."""
    history = tracer.state.histories.get((id(owner), name))
    return history is not None and is_within(tracer.enclosing, history.renewed)


def _held(tracer: Tracer, owner: py.Value, name: str, value: py.TensorValue) -> py.TensorValue:
    """A tensor that was made before the forward: state where it is a parameter or buffer, or else a constant."""
    is_module_s = isinstance(owner, py.ModuleValue) and not _is_of_this_call(tracer, owner, name)
    if value.takes_gradients and not value.role and is_module_s:
        tracer.report("untraceable-call/constant", tracer.node, name=f"self.{name}")
    if not value.role:
        return value
    tracer.state_met = True
    shown = Origin(f"self.{name}")
    exported.state_read(tracer, shown.name)
    held = Traced(
        role=value.role,
        dtype=value.dtype,
        rank=value.rank,
        sizes=value.sizes,
        filling=value.filling if shown.name not in tracer.refilled else None,
        origin=shown,
        of="state",
        extent=None if value.sizes is None else known(value.sizes),
        grad=value.grad,
        given=value.given,
    )
    tracer.state.hold(owner, name, held)
    return held


def _of_tensor(tracer: Tracer, owner: py.TensorValue, name: str) -> py.Value | None:
    node = tracer.node
    exported.taken_of_data(tracer, name, node)
    exported.taken_of_input(tracer, owner, name, node)
    if name in _OF_KIND:
        asked_of_data(tracer, node)
    if name == "__class__":
        return exported_types.class_of(tracer, owner, node)
    if name == "shape":
        recorded(tracer, owner)
        return shape_of(tracer, owner, node)
    if name in _PROPERTIES:
        return _named_property(tracer, owner, name, node)
    if name == "nbytes" and isinstance(owner, Traced) and owner.of == "inputs":
        return frozen(owner.origin.then(node), "size", "int", pending=True)
    if name == "data":
        exported.data_taken(tracer, owner, node)
        if isinstance(owner, Traced) and owner.of == "inputs" and tracer.check is None:
            tracer.report("detached-data", node, owner.origin)
        data = replace(owner, grad=False) if isinstance(owner, Traced) and owner.role else owner
        unrecorded.taken(tracer, owner, data)
        return data
    if name in ("T", "mT", "H", "mH", "real", "imag"):
        recorded(tracer, owner)
        alike = "real" if name in ("real", "imag") else "t"
        view = shaping.of_call(tracer, alike, [owner], {}, tensor([owner], node))
        kept_constants.viewed(tracer, name, owner, [], view)
        return view
    if name in ("grad", "name"):
        return py.Unknown(None, "", py.NONE)  # but for what a backward pass leaves
    if name in ("grad_fn", "_base"):
        return Opaque()
    if name not in tracer.tables.tensor and not name.startswith("_"):
        exported.taken_of_state(tracer, owner, name, node)
        return py.Unknown() if name in owner.given else None
    return py.BoundMethod(py.External(f"method.{name}"), owner)


def _named_property(tracer: Tracer, owner: py.TensorValue, name: str, node: ast.AST | None) -> py.Value:
    value = answer_about(tracer, owner, name, _PROPERTIES[name], node)
    if name == "device" and devices.is_of_module(owner):
        return devices.of_module(tracer)
    if name in ("is_quantized", "itemsize"):
        told = dtypes.told(name, owner.dtype) or _OF_EXAMPLE.get(name)
    elif name in _OF_EXAMPLE:
        told = _OF_EXAMPLE[name]
    else:
        return value
    return replace(value, default=told) if isinstance(value, Fixed) else told or py.Unknown()


# What is asked of ``x.data`` and rests on no element and no size of it.
_OF_KIND = frozenset(
    [
        *(*_PROPERTIES, "dim", "ndimension", "get_device", "element_size", "is_floating_point"),
        *("new_empty", "new_full", "new_ones", "new_tensor", "new_zeros"),
    ]
)


def asked_of_data(tracer: Tracer, node: ast.AST | None) -> None:
    """``x.data.dim()``: nothing of what x holds is taken, which ``x.data`` was reported for."""
    _take_back(tracer, node.value if isinstance(node, ast.Attribute) else None)


def told_of_data(tracer: Tracer, told: ast.Call) -> None:
    """``print(x.data)``: what a call tells its reader is no part of what is computed."""
    for inner in walked(told):
        _take_back(tracer, inner)


def _take_back(tracer: Tracer, inner: ast.AST | None) -> None:
    """Take back what was reported for ``x.data``."""
    if not isinstance(inner, ast.Attribute) or inner.attr != "data":
        return
    event = tracer.event("detached-data", inner)
    if event is None:
        return
    for key, other in list(tracer.events.items()):
        if other.rule == event.rule and other.span == event.span and other.module is event.module:
            del tracer.events[key], tracer.parts[key]


def shape_of(tracer: Tracer, owner: py.TensorValue, node: ast.AST | None) -> py.Value:
    """``x.shape``: symbolic sizes where an input reaches the tensor."""
    extent = shaping.extent(tracer, owner)
    if not isinstance(owner, Traced) or owner.of != "inputs":
        count = owner.rank if extent is None else extent.rank
        sizes = [None if extent is None else extent.at(index) for index in range(count or 1)]
        return py.TupleValue(tuple(_constant_size(tracer, dim) for dim in sizes), count is None)
    origin = owner.origin.then(node)
    count = None if extent is None else extent.rank
    items = [size_at(tracer, extent, index, origin) for index in range(count if count is not None else 1)]
    return Shape(tuple(items), count is None, origin=origin, extent=extent)


def _constant_size(tracer: Tracer, dim: Dim | None) -> py.Value:
    value = shaping.known_value(tracer.facts, dim)
    return value if value is not None else py.Unknown(None, "int")


def size_at(tracer: Tracer, extent: Extent | None, index: int | None, origin: Origin) -> Number:
    """The size in one dimension of a tensor that inputs reach."""
    dim = None if extent is None or index is None else extent.at(index)
    found = size(origin, dim=dim, known=shaping.known_value(tracer.facts, dim))
    found.unbacked = "" if dim is None else tracer.facts.resolved(dim).unbacked
    return found


def spread(tracer: Tracer, shape: Shape, before: int, after: int) -> list[py.Value]:
    """``a, *rest, z = x.shape`` of a rank that is not known: the first sizes, those between, the last."""
    at = [*range(before), None, *range(-after, 0)]
    sizes = [size_at(tracer, shape.extent, index, shape.origin) for index in at]
    return [py.ListValue([n], open=True) if i is None else n for i, n in zip(at, sizes, strict=True)]


def size_of(tracer: Tracer, owner: py.TensorValue, index: py.Value, node: ast.AST | None) -> py.Value:
    """``x.size(index)``."""
    extent, position = shaping.extent(tracer, owner), py.constant(plainly(index))
    at = position if isinstance(position, int) else None
    if isinstance(owner, Traced) and owner.of == "inputs":
        return size_at(tracer, extent, at, owner.origin.then(node))
    return _constant_size(tracer, None if extent is None or at is None else extent.at(at))


def answer_about(
    tracer: Tracer, owner: py.TensorValue, name: str, about: Property, node: ast.AST | None
) -> py.Value:
    """A property of a ``name`` that tells whether it is a bool."""
    value = property_of(tracer, owner, about, node)
    is_bool = name.startswith("is_") or name == "requires_grad"
    return replace(value, hint="bool") if is_bool and isinstance(value, Fixed) else value


def property_of(tracer: Tracer, owner: py.TensorValue, about: Property, node: ast.AST | None) -> py.Value:
    """A property that is an ordinary Python value while tracing."""
    found: py.Value | None = None
    extent: Extent | None = None
    if about == "rank":
        extent = extent_of(tracer.facts, owner)
        rank = owner.rank if extent is None or extent.rank is None else extent.rank
        found = None if rank is None else py.Const(rank)
    elif about == "dtype" and dtype_of(tracer, owner):
        found = py.Atom("dtype", dtype_of(tracer, owner))
    if not isinstance(owner, Traced) or owner.of != "inputs":
        return found if found is not None else py.Unknown(None, "int" if about == "rank" else "")
    origin = owner.origin.then(node)
    if found is None and not tracer.is_export and tracer.facts.has_rank_of_sizes(extent):
        return rank_of_sizes(tracer, origin, node)
    hint = "int" if about == "rank" else ""
    return Fixed(None, hint, found, origin=origin, about=about, extent=extent)


def rank_of_sizes(tracer: Tracer, origin: Origin, node: ast.AST | None) -> Number:
    """A number of dimensions that the sizes of inputs tell."""
    number = frozen(origin, "size", "int")
    number.debt = tracer.debt("size-to-number/rank", node, origin)
    return number


def dtype_of(tracer: Tracer, owner: py.TensorValue) -> str:
    """The dtype of a tensor, that which is taken for granted of inputs where nothing tells theirs."""
    is_input = isinstance(owner, Traced) and owner.of == "inputs"
    return owner.dtype or (tracer.facts.dtype if is_input else "")


def _of_opaque(tracer: Tracer, owner: Opaque, name: str) -> py.Value:
    """What only tensors have tells that a result which could not be followed is one."""
    exported.taken_of_input(tracer, owner, name, tracer.node)
    if name in ("shape", "dtype", "device", "ndim"):
        found = _of_tensor(tracer, Traced(origin=owner.origin), name)
        assert found is not None
        return found
    return py.BoundMethod(py.External(f"method.{name}"), owner)


def _of_fixed(owner: Fixed, name: str) -> py.Value:
    if owner.hint == "str" and hasattr(str, name):
        return py.BoundMethod(py.External(f"method.{name}"), owner)
    if owner.about == "device" and name == "type":
        kind = py.Const("cpu") if isinstance(owner.default, py.Atom) else None
        return Fixed(None, "str", kind, origin=owner.origin, about="device")
    return Fixed(None, "", origin=owner.origin, about=owner.about)
