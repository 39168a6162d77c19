"""Attributes of traced values: shapes stay symbolic, other properties are fixed."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.python import attributes as python_attributes
from tsguard.analysis.trace.operators import tensor
from tsguard.analysis.trace.origins import Origin
from tsguard.analysis.trace.values import (
    Derived,
    Fixed,
    Number,
    Opaque,
    Property,
    Shape,
    Traced,
    Untraced,
    size,
)

if TYPE_CHECKING:
    from tsguard.analysis.trace.tracer import Tracer

_PROPERTIES: dict[str, Property] = {
    "dtype": "dtype",
    "device": "device",
    "is_cuda": "device",
    "is_cpu": "device",
    "is_mps": "device",
    "is_meta": "device",
    "layout": "layout",
    "is_sparse": "layout",
    "is_quantized": "dtype",
    "ndim": "rank",
    "itemsize": "dtype",
    "requires_grad": "grad",
    "is_leaf": "grad",
}


def get(tracer: Tracer, owner: py.Value, name: str) -> py.Value | None:
    """An attribute, or None where the value certainly has none of this name."""
    if isinstance(owner, py.TensorValue):
        return _of_tensor(tracer, owner, name)
    if isinstance(owner, (Shape, Number)):
        return py.BoundMethod(py.External(f"method.{name}"), owner)
    if isinstance(owner, Opaque):
        return _of_opaque(tracer, owner, name)
    if isinstance(owner, Fixed):
        return _of_fixed(owner, name)
    if isinstance(owner, (Derived, Untraced)):
        return owner
    if isinstance(owner, py.ModuleValue) and name == "training":
        return Fixed("training", "bool", py.FALSE, about="mode")
    if isinstance(owner, (py.ModuleReference, py.External)):
        return tracer.plain.attribute(owner, name)
    if isinstance(owner, py.ObjectValue):
        tracer.state.read(tracer, owner, name)
    if isinstance(owner, py.ClassValue):
        tracer.state.read_class(tracer, owner, name)
    value = python_attributes.get(tracer, owner, name)
    if isinstance(value, py.TensorValue) and value.role and not isinstance(value, Traced):
        shown = Origin(f"self.{name}")
        return Traced(role=value.role, dtype=value.dtype, rank=value.rank, origin=shown, of="state")
    return value


def _of_tensor(tracer: Tracer, owner: py.TensorValue, name: str) -> py.Value:
    node = tracer.node
    if name == "shape":
        return shape_of(owner, node)
    if name in _PROPERTIES:
        return property_of(owner, _PROPERTIES[name], node)
    if name == "data":
        if isinstance(owner, Traced) and owner.of == "inputs":
            tracer.report("detached-data", node, owner.origin)
        return owner
    if name in ("T", "mT", "H", "mH", "real", "imag"):
        return tensor([owner], node)
    if name in ("grad", "grad_fn", "_base", "name"):
        return py.Unknown("")
    return py.BoundMethod(py.External(f"method.{name}"), owner)


def shape_of(owner: py.TensorValue, node: ast.AST | None) -> py.Value:
    """``x.shape``: symbolic sizes where an input reaches the tensor."""
    if not isinstance(owner, Traced) or owner.of != "inputs":
        count = owner.rank
        return py.TupleValue(tuple(py.Unknown("", "int") for _ in range(count or 1)), count is None)
    origin = owner.origin.then(node)
    return Shape(tuple(size(origin) for _ in range(owner.rank or 1)), owner.rank is None, origin=origin)


def property_of(owner: py.TensorValue, about: Property, node: ast.AST | None) -> py.Value:
    """A property that is an ordinary Python value while tracing."""
    known: py.Value | None = None
    if about == "rank" and owner.rank is not None:
        known = py.Const(owner.rank)
    elif about == "dtype" and owner.dtype:
        known = py.Atom("dtype", owner.dtype)
    if not isinstance(owner, Traced) or owner.of != "inputs":
        return known if known is not None else py.Unknown("", "int" if about == "rank" else "")
    origin = owner.origin.then(node)
    return Fixed("", "int" if about == "rank" else "", known, origin=origin, about=about)


def _of_opaque(tracer: Tracer, owner: Opaque, name: str) -> py.Value:
    """What only tensors have tells that a result which could not be followed is one."""
    if name in ("shape", "dtype", "device", "ndim"):
        return _of_tensor(tracer, Traced(origin=owner.origin), name)
    return py.BoundMethod(py.External(f"method.{name}"), owner)


def _of_fixed(owner: Fixed, name: str) -> py.Value:
    if owner.about == "device" and name == "type":
        return Fixed("", "str", origin=owner.origin, about="device")
    return Fixed("", "", origin=owner.origin, about=owner.about)
