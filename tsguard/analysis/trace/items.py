"""Subscripts over traced values: ``x[i]``, ``x.shape[0]``, ``pieces[-1]``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.trace.iteration import structure
from tsguard.analysis.trace.operators import report_number, tensor
from tsguard.analysis.trace.uses import used
from tsguard.analysis.trace.values import (
    NOWHERE,
    InputDict,
    InputList,
    Number,
    Opaque,
    Pieces,
    Shape,
    Traced,
    Untraced,
    frozen,
    is_live,
    size,
)

if TYPE_CHECKING:
    from tsguard.analysis.trace.tracer import Tracer


def item(tracer: Tracer, owner: py.Value, key: py.Value, node: ast.AST) -> py.Value | None:
    """``owner[key]`` where one of them is traced; None where neither is."""
    if isinstance(owner, py.TensorValue):
        used(tracer, [key], node)
        return tensor([owner, key, *_bounds(key)], node)
    if isinstance(owner, Shape):
        return _of_shape(tracer, owner, key, node)
    if isinstance(owner, Pieces):
        if not (owner.of_length and isinstance(key, py.Const)):
            tracer.report("pieces-count", node, owner.origin)
        return owner.items[0] if not isinstance(key, py.SliceValue) else owner
    if isinstance(owner, Opaque):
        return Opaque("", origin=owner.origin.then(node))
    if isinstance(owner, (Number, Untraced)):
        return owner
    return _of_container(tracer, owner, key, node)


def _bounds(key: py.Value) -> list[py.Value]:
    if isinstance(key, py.SliceValue):
        return [key.start, key.stop, key.step]
    if isinstance(key, py.TupleValue):
        return [bound for part in key.items for bound in (part, *_bounds(part))]
    return []


def _of_shape(tracer: Tracer, owner: Shape, key: py.Value, node: ast.AST) -> py.Value:
    origin = owner.origin.then(node)
    if isinstance(key, py.SliceValue):
        part = py.slice_of(key)
        if owner.open or part is None:
            return Shape(owner.items, True, origin=origin)
        return Shape(owner.items[part], origin=origin)
    index = py.constant(key)
    if not owner.open and isinstance(index, int) and -len(owner.items) <= index < len(owner.items):
        known = owner.items[index]
        return size(origin) if isinstance(known, Number) else known
    return size(origin)


def _of_container(tracer: Tracer, owner: py.Value, key: py.Value, node: ast.AST) -> py.Value | None:
    """Python indexes lists and dicts with the number itself, and says nothing of it."""
    if isinstance(key, Number) or (
        isinstance(key, Traced) and is_live(key) and not isinstance(owner, py.DictValue)
    ):
        if is_live(key):
            hashed = isinstance(owner, (py.DictValue, py.SetValue))
            report_number(tracer, "key" if hashed else "index", key, node)
        else:
            used(tracer, [key], node)
        return _any_of(owner)
    if isinstance(key, Untraced):
        used(tracer, [key], node)
        return _any_of(owner)
    if isinstance(key, py.SliceValue):
        live = next((b for b in _bounds(key) if isinstance(b, Number) and b.live), None)
        if live is not None:
            report_number(tracer, "index", live, node)
    if isinstance(owner, InputList) and isinstance(key, py.SliceValue):
        structure(tracer, owner)
    if isinstance(owner, InputDict) and owner.open:
        return Traced(origin=owner.origin.then(node))
    return None


def _any_of(owner: py.Value) -> py.Value:
    """One of a container's values, whichever."""
    if isinstance(owner, (py.ListValue, py.TupleValue)) and owner.items:
        found = owner.items[0]
    elif isinstance(owner, py.DictValue) and owner.items:
        found = next(iter(owner.items.values()))
    elif isinstance(owner, py.ModuleValue) and owner.children:
        found = next(iter(owner.children.values()))
    else:
        return py.Unknown("")
    return frozen(NOWHERE, "data") if isinstance(found, py.Const) else found
