"""One value for two: what is known of a name after branches that may both have run."""

from __future__ import annotations

from tsguard.analysis import values as py
from tsguard.analysis.python import operations
from tsguard.analysis.trace.shapes.extents import ANY, Extent, either, known
from tsguard.analysis.trace.values import (
    Derived,
    Either,
    Held,
    Number,
    Opaque,
    Shape,
    Traced,
    Truths,
    frozen_again,
    origin_of,
    unbacked_of,
)
from tsguard.analysis.values import Scope
from tsguard.report.records import replace

Names = dict[str, py.Value]
# What is called as either of two: each is followed.
CALLED = (py.External, py.FunctionValue, py.ModuleValue, py.BoundMethod, py.Partial)


def joined(left: py.Value, right: py.Value) -> py.Value:
    """A value that is one of two; tensors stay tensors, what differs else is unknown."""
    if left is right or (isinstance(left, py.Const) and left == right):
        return left
    if isinstance(left, py.TensorValue) and isinstance(right, py.TensorValue):
        return _joined_tensors(left, right)
    if type(left) is type(right):
        alike = _alike(left, right)
        if alike is not None:
            return alike
    owing = next((v for v in (left, right) if isinstance(v, Number) and v.debt is not None), None)
    if owing is not None:
        return frozen_again(owing, None)
    if isinstance(left, Held) or isinstance(right, Held):
        return Held(None, "")
    origin = origin_of([left, right])
    if origin is not None:
        return Opaque(None, origin=origin)
    if py.is_none(left) or py.is_none(right) or (_is_option(left) and _is_option(right)):
        return Either(None, py.EITHER, options=(*_options(left), *_options(right)))
    hint = _hint(left) if _hint(left) == _hint(right) else ""
    return py.Unknown(None, hint)


def _is_option(value: py.Value) -> bool:
    return isinstance(value, (Either, *CALLED)) or type(value) is py.ObjectValue


def _options(value: py.Value) -> tuple[py.Value, ...]:
    return value.options if isinstance(value, Either) else (value,)


def _joined_tensors(left: py.TensorValue, right: py.TensorValue) -> py.TensorValue:
    """A tensor that inputs reach where they reach one of two, of what is alike in their shapes."""
    is_left = isinstance(left, Traced) and not (isinstance(right, Traced) and right.of == "inputs")
    chosen = left if is_left else right
    one, other = (_extent(tensor) for tensor in (left, right))
    filling = left.filling if left.filling == right.filling else None
    sizes_only = _is_of_sizes(left) and _is_of_sizes(right)
    dtype = left.dtype if left.dtype == right.dtype else ""
    if isinstance(chosen, Traced) and (chosen.filling, chosen.sizes_only) != (filling, sizes_only):
        chosen = replace(chosen, filling=filling, sizes_only=sizes_only)
    if chosen.dtype != dtype:
        chosen = replace(chosen, dtype=dtype)
    if one == other:
        return chosen
    shape = either(one, other)
    if isinstance(chosen, Traced):
        return replace(chosen, extent=shape if shape is not None else ANY)
    return replace(chosen, sizes=None)


def _is_of_sizes(tensor: py.TensorValue) -> bool:
    return not isinstance(tensor, Traced) or tensor.sizes_only or tensor.of == "state"


def _extent(tensor: py.TensorValue) -> Extent | None:
    if isinstance(tensor, Traced):
        return tensor.extent
    return None if tensor.sizes is None else known(tensor.sizes)


def _alike(left: py.Value, right: py.Value) -> py.Value | None:
    if isinstance(left, Number) and isinstance(right, Number):
        return _joined_numbers(left, right)
    if isinstance(left, Shape) and isinstance(right, Shape):
        return _joined_shapes(left, right)
    if isinstance(left, Derived):
        return left
    if (
        isinstance(left, py.TupleValue)
        and isinstance(right, py.TupleValue)
        and len(left.items) == len(right.items)
    ):
        pairs = zip(left.items, right.items, strict=True)
        return py.TupleValue(tuple(joined(a, b) for a, b in pairs), left.open or right.open, left.cls)
    if isinstance(left, py.ListValue) and isinstance(right, py.ListValue):
        longer = left if len(left.items) >= len(right.items) else right
        return py.ListValue(list(longer.items), True)
    return None


def _joined_numbers(left: Number, right: Number) -> Number:
    chosen = left if left.live or not right.live else right
    same = left.known is not None and left.known == right.known
    return replace(
        chosen,
        known=left.known if same else None,
        dim=left.dim if left.dim == right.dim else None,
        tells=Truths(),
        pending=left.pending or right.pending,
        debt=left.debt or right.debt,
        unbacked=unbacked_of([left, right]),
    )


def _joined_shapes(left: Shape, right: Shape) -> Shape:
    if left.open or right.open or len(left.items) != len(right.items):
        return replace(left, open=True, items=left.items[:1], extent=None)
    pairs = zip(left.items, right.items, strict=True)
    return replace(
        left, items=tuple(joined(a, b) for a, b in pairs), extent=either(left.extent, right.extent)
    )


def _hint(value: py.Value) -> str:
    if isinstance(value, py.Const):
        return operations.hint_of(value)
    return value.hint if isinstance(value, py.Unknown) else ""


def merge(scope: Scope, one: Names, other: Names) -> None:
    """Give a scope the names that either branch leaves behind."""
    names = {**other, **one}
    for name in one.keys() & other.keys():
        if one[name] is not other[name]:
            names[name] = joined(one[name], other[name])
    scope.names.clear()
    scope.names.update(names)
