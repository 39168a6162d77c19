"""Attributes of plain values: of numbers, tuples, ranges, tensors, functions and members of enumerations."""

from __future__ import annotations

from collections.abc import Callable

from tsguard.analysis.python import classes, introspection, type_tests
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.terms import member_of
from tsguard.analysis.values import (
    TRUE,
    Atom,
    BoundMethod,
    ClassValue,
    Const,
    EnumMember,
    External,
    FunctionValue,
    ObjectValue,
    Partial,
    PropertyValue,
    RangeValue,
    SliceValue,
    TensorValue,
    TupleValue,
    Unknown,
    Value,
    is_none,
)

_TENSOR_PROPERTIES: dict[str, Callable[[], Value]] = {
    **dict.fromkeys(("H", "mH", "mT", "real"), TensorValue),
    **dict.fromkeys(("itemsize", "nbytes", "output_nr"), lambda: Unknown(None, "int")),
    "shape": lambda: TupleValue((Unknown(None, "int"),), open=True),
    "ndim": lambda: Unknown(None, "int"),
    "requires_grad": lambda: Unknown(None, "bool"),
    "is_cuda": lambda: Unknown(None, "bool"),
    "dtype": lambda: Unknown(None, "dtype"),
    "device": lambda: Unknown(None, "device"),
    "data": TensorValue,
    "grad": lambda: Unknown(),
    "T": TensorValue,
}

# What ranges and slices have.
_BOUNDS = frozenset({"start", "stop", "step"})


def get(interp: Interpreter, owner: Value, name: str) -> Value | None:
    """An attribute of a plain value, or None where it certainly has none of this name."""
    if isinstance(owner, TupleValue) and (found := _of_tuple(interp, owner, name)) is not None:
        return found
    if isinstance(owner, (RangeValue, SliceValue)) and name in _BOUNDS:
        bound: Value = getattr(owner, name)
        return bound
    if isinstance(owner, TensorValue) and name in _TENSOR_PROPERTIES:
        return _TENSOR_PROPERTIES[name]()
    if isinstance(owner, TensorValue) and (
        name in owner.given or interp.tables.tensor.get(name) == "property"
    ):
        return Unknown(None, "bool" if name.startswith("is_") else "")
    if isinstance(owner, (FunctionValue, Partial)):
        return _function_attribute(owner, name)
    if isinstance(owner, BoundMethod) and name.startswith("__"):
        return get(interp, owner.function, name)
    if isinstance(owner, Atom):
        return Unknown(member_of(owner.name, name))
    if is_none(owner):
        return None
    if name == "__class__" and (cls := type_tests.type_of(interp, owner)) is not None:
        return cls
    return BoundMethod(External(f"method.{name}"), owner)


def _of_tuple(interp: Interpreter, owner: TupleValue, name: str) -> Value | None:
    """A field of a named tuple, or what its class defines; a part of a result that torch has a name for."""
    if owner.cls is None:
        is_part = name not in _OF_TUPLES and not name.startswith("__")
        return _result_field(owner, name) if is_part else None
    fields = list(owner.cls.annotations)
    if name in fields and fields.index(name) < len(owner.items):
        return owner.items[fields.index(name)]
    if name == "_fields":
        return TupleValue(tuple(map(Const, fields)))
    return _of_class(interp, owner.cls, owner, name)


def of_member(interp: Interpreter, owner: EnumMember, name: str) -> Value | None:
    """An attribute of a member of an enumeration."""
    if name in ("value", "_value_"):
        return owner.value
    if name in ("name", "_name_"):
        return Const(owner.name)
    own = _of_class(interp, owner.cls, owner, name)
    if own is not None:
        return own
    if classes.class_member(interp, owner.cls, name) is None and owner.alike is not None:
        return interp.attribute(owner.alike, name)
    return _initialized(interp, owner).get(name) or Unknown(member_of(owner.name, name))


def _of_class(interp: Interpreter, cls: ClassValue, owner: Value, name: str) -> Value | None:
    """A method or property that a class defines of what is no instance with attributes of its own."""
    found = classes.class_member(interp, cls, name)
    if found is not None and isinstance(found[0], FunctionValue):
        return BoundMethod(found[0], owner)
    if found is not None and isinstance(found[0], PropertyValue):
        return interp.call(BoundMethod(found[0].getter, owner), [], {}, None)
    return None


def _initialized(interp: Interpreter, owner: EnumMember) -> dict[str, Value]:
    """The attributes that an ``__init__`` of an enumeration gives a member, which is called with the member's value."""
    found = classes.class_member(interp, owner.cls, "__init__")
    if found is None or not isinstance(found[0], FunctionValue):
        return {}
    member = ObjectValue(owner.cls)
    given = list(owner.value.items) if isinstance(owner.value, TupleValue) else [owner.value]
    interp.call(BoundMethod(found[0], member), given, {}, None)
    return member.attributes


# What tuples have, and sizes.
_OF_TUPLES = frozenset({"count", "index", "numel"})
# What torch calls the parts of results, by how many these have.
_FIELDS = {
    2: (
        ("values", "indices"), ("min", "max"), ("eigenvalues", "eigenvectors"), ("Q", "R"), ("L", "info"),
        ("sign", "logabsdet"), ("mantissa", "exponent"), ("LU", "pivots"), ("LD", "pivots"), ("inverse", "info"),
        ("result", "info"), ("hist", "bin_edges"), ("a", "tau"), ("self", "jpvt"), ("output", "counts"),
    ),
    3: (("U", "S", "V"), ("U", "S", "Vh"), ("P", "L", "U"), ("LU", "pivots", "info"), ("LD", "pivots", "info")),
    4: (("solution", "residuals", "rank", "singular_values"), ("data", "batch_sizes", "sorted_indices", "unsorted_indices")),
}  # fmt: skip


def _result_field(owner: TupleValue, name: str) -> Value:
    """``x.max(-1).values``: a part of a tuple that torch has names for."""
    for fields in _FIELDS.get(len(owner.items), ()):
        if name in fields:
            return owner.items[fields.index(name)]
    return Unknown()


def _function_attribute(owner: FunctionValue | Partial, name: str) -> Value | None:
    if isinstance(owner, Partial):
        return owner.function if name == "func" else Unknown()
    if name in owner.attributes:
        return owner.attributes[name]
    if name in ("__name__", "__qualname__"):
        while isinstance(owner, FunctionValue) and owner.wrapped is not None:
            owner = owner.wrapped
        return Const(owner.name)
    if name == "__code__":
        return introspection.code(owner)
    if name == "__isabstractmethod__":
        return TRUE if "abstract" in owner.marks else None
    return Const(owner.module.name) if name == "__module__" else Unknown(member_of(owner.name, name))
