"""Sizes in a list, which code changes before it makes a tensor of them: ``sizes = list(x.shape)``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.trace.shapes.operation import dim_of
from tsguard.analysis.trace.values import Opaque, Shape, plainly, size
from tsguard.report.records import replace

if TYPE_CHECKING:
    import ast
    from collections.abc import Sequence

    from tsguard.analysis.trace.context import Tracer

CHANGING: frozenset[str] = frozenset(
    {"append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"}
)


def listed(tracer: Tracer, args: Sequence[py.Value], kwargs: object, node: ast.AST) -> py.Value | None:
    """``list(x.shape)``, which is changed without the shape; None for what Python's own way makes a list of."""
    value = args[0] if args else py.NONE
    if isinstance(value, Shape):
        return replace(value)
    return value if isinstance(value, Opaque) else None


def set_item(shape: Shape, key: py.Value, value: py.Value) -> None:
    """``sizes[key] = value``."""
    if isinstance(key, py.SliceValue):
        _set_slice(shape, key, value)
        return
    index = py.constant(plainly(key))
    if not isinstance(index, int) or isinstance(index, bool):
        _lose(shape)
        return
    extent = None if shape.extent is None else shape.extent.replaced(index, dim_of(value))
    is_known = index in range(len(shape.items)) or (
        not shape.open and -index in range(1, len(shape.items) + 1)
    )
    if is_known:
        items = list(shape.items)
        items[index] = value
        shape.items = tuple(items)
    elif index < 0:
        shape.items = (size(shape.origin),)  # the last may be the first
    shape.extent, shape.rest = extent, None


def _set_slice(shape: Shape, key: py.SliceValue, value: py.Value) -> None:
    """``sizes[1:] = [1, 1]``."""
    found = py.slice_of(py.SliceValue(*map(plainly, (key.start, key.stop, key.step))))
    given = value.items if isinstance(value, (py.ListValue, py.TupleValue)) and not value.open else None
    if shape.open or found is None or given is None:
        _lose(shape)
        return
    items = list(shape.items)
    items[found] = given
    shape.items, shape.extent, shape.rest = tuple(items), None, None


def change(shape: Shape, name: str, args: Sequence[py.Value]) -> py.Value:
    """The result of a method that changes a list: ``sizes.pop()``."""
    popped: py.Value = size(shape.origin) if name == "pop" else py.NONE
    if shape.open or args[1:]:
        _lose(shape)
    elif name == "append" and args:
        shape.items = (*shape.items, *args)
    elif name == "pop" and not args and shape.items:
        *rest, popped = shape.items
        shape.items = tuple(rest)
    elif name == "reverse":
        shape.items = shape.items[::-1]
    else:
        _lose(shape)
    shape.extent = shape.rest = None
    return popped


def _lose(shape: Shape) -> None:
    shape.items, shape.open = (size(shape.origin),), True
    shape.extent = shape.rest = None
