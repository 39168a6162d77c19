"""Subscripts of traced values: ``x[i]``, ``x.shape[0]``, ``pieces[-1]``."""

from __future__ import annotations

import ast

from tsguard.analysis import values as py
from tsguard.analysis.export import data, indices, sizes
from tsguard.analysis.python import containers
from tsguard.analysis.trace import attributes, ranks, shaping
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.iteration import structure
from tsguard.analysis.trace.operators import report_number, tensor
from tsguard.analysis.trace.origins import Origin
from tsguard.analysis.trace.sizes_in_place import identity
from tsguard.analysis.trace.uses import lost_sight, used
from tsguard.analysis.trace.values import (
    NOWHERE,
    Fixed,
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
    is_symbolic,
    plainly,
    size,
)
from tsguard.report.records import replace


def item(tracer: Tracer, owner: py.Value, key: py.Value, node: ast.AST) -> py.Value | None:
    """``owner[key]`` where one of them is traced; None where neither is."""
    if isinstance(owner, py.TensorValue):
        indices.taken(tracer, key, node)
        listed(tracer, key, node)
        used(tracer, [owner, key, *bounds(key)], node)
        return shaping.of_item(tracer, owner, key, tensor([owner, key, *bounds(key)], node))
    if isinstance(owner, Shape):
        return _of_shape(tracer, owner, plainly(key), node)
    if isinstance(owner, Pieces):
        tracer.report("pieces-count", node, owner.origin)
        return owner.items[0] if not isinstance(key, py.SliceValue) else owner
    if isinstance(owner, Opaque):
        return Opaque(None, origin=owner.origin.then(node))
    if isinstance(owner, (Number, Untraced)):
        return owner
    for found in (_registered(tracer, owner, key), tracer.by_size(owner, key)):
        if found is not None:
            return found
    return _of_container(tracer, owner, key, node)


def _registered(tracer: Tracer, owner: py.Value, key: py.Value) -> py.Value | None:
    """A parameter or buffer that is taken from where its module registers it."""
    module = owner.registry_of if isinstance(owner, py.DictValue) else None
    name = py.constant(key)
    if module is None or not (name in module.parameters or name in module.buffers):
        return None
    return tracer.attribute(module, str(name))


def listed(tracer: Tracer, key: py.Value, node: ast.AST | None) -> None:
    """``x[:, [0, n]]``: of a list among the keys of a tensor torch makes another one, which holds numbers.

    One that is the key itself is as good as a tuple if it holds tensors, as sizes are while torch traces.
    """
    is_alone = isinstance(key, py.ListValue)
    for part in key.items if isinstance(key, py.TupleValue) else [key]:
        if not isinstance(part, (py.ListValue, py.TupleValue)) or isinstance(part, (Shape, Pieces)):
            continue
        if is_alone and any(isinstance(item, py.TensorValue) for item in part.items):
            continue
        for item in part.items:
            if isinstance(item, (Number, Traced)) and is_live(item):
                report_number(tracer, "index", item, node)


def bounds(key: py.Value) -> list[py.Value]:
    """The numbers in the brackets of a tensor."""
    if isinstance(key, py.SliceValue):
        return [key.start, key.stop, key.step]
    if isinstance(key, py.TupleValue):
        return [bound for part in key.items for bound in (part, *bounds(part))]
    return []


def _of_shape(tracer: Tracer, owner: Shape, key: py.Value, node: ast.AST) -> py.Value:
    origin = owner.origin.then(node)
    if isinstance(key, py.SliceValue):
        part = py.slice_of(py.SliceValue(*map(_by_rank, (key.start, key.stop, key.step))))
        if owner.open or part is None:
            return _part_of_open(tracer, owner, part, origin)
        return Shape(owner.items[part], origin=origin)
    index = py.constant(_by_rank(key))
    if not owner.open and isinstance(index, int) and -len(owner.items) <= index < len(owner.items):
        known = owner.items[index]
        return replace(known, origin=origin, tensor=identity(known)) if isinstance(known, Number) else known
    extent, start = (owner.extent, 0) if owner.rest is None else owner.rest
    if not isinstance(index, int):
        return attributes.size_at(tracer, None, None, origin)
    found = attributes.size_at(tracer, extent, index + start if index >= 0 else index, origin)
    return replace(found, tensor=(owner, index))


def _by_rank(bound: py.Value) -> py.Value:
    """A bound, which the number of sizes may tell: ``x.shape[len(x.shape) - 1:]``."""
    return bound.default or bound if isinstance(bound, Fixed) else bound


def _part_of_open(tracer: Tracer, owner: Shape, part: slice | None, origin: Origin) -> py.Value:
    """``x.shape[-2:]``, ``x.shape[:2]``: so many sizes, though nobody knows of how many."""
    if part is not None and part.step in (None, 1):
        indexes: range | None = None
        if part.stop is None and part.start is not None and part.start < 0:
            indexes = range(part.start, 0)
        elif part.stop is not None and part.stop > 0 and part.start in (None, 0):
            indexes = range(part.stop)
        if indexes is not None:
            sizes = (attributes.size_at(tracer, owner.extent, index, origin) for index in indexes)
            return Shape(tuple(sizes), origin=origin)
        if owner.extent is not None and part.start in (None, 0) and part.stop is not None and part.stop < 0:
            return Shape(owner.items, True, origin=origin, extent=owner.extent.without_last(-part.stop))
        if part.stop is None and part.start is not None and part.start > 0:
            return _rest(tracer, owner, part.start, origin)
    return Shape((attributes.size_at(tracer, None, None, origin),), True, origin=origin)


def _rest(tracer: Tracer, owner: Shape, start: int, origin: Origin) -> Shape:
    """``x.shape[2:]``, and ``x.shape[1:][1:]``."""
    extent, skipped = (owner.extent, 0) if owner.rest is None else owner.rest
    first = attributes.size_at(tracer, extent, skipped + start, origin)
    return Shape((first,), True, origin=origin, rest=None if extent is None else (extent, skipped + start))


def _of_container(tracer: Tracer, owner: py.Value, key: py.Value, node: ast.AST) -> py.Value | None:
    """Python indexes lists and dicts with the number itself, and says nothing of it."""
    if isinstance(owner, (py.ListValue, py.TupleValue, py.DictValue, py.ModuleValue)):
        data.symbol_wanted(tracer, "data-number/index", [key, *bounds(key)], node)
    if (
        isinstance(key, Number)
        and key.known is not None
        and not isinstance(owner, (py.DictValue, py.SetValue))
    ):
        return containers.item(tracer, owner, plainly(key), node)
    if isinstance(key, Number) or (
        isinstance(key, Traced) and is_live(key) and not isinstance(owner, py.DictValue)
    ):
        if not isinstance(owner, (py.DictValue, py.SetValue)) or isinstance(key, Number):
            data.number_wanted(tracer, "data-number/index", [key], node)
        is_hashed = isinstance(owner, (py.DictValue, py.SetValue))
        sizes.wanted(tracer, "lost-size/key" if is_hashed else "fixed-size/index", [key], node)
        if is_live(key) or is_symbolic(key):
            hashed = isinstance(owner, (py.DictValue, py.SetValue))
            report_number(tracer, "key" if hashed else "index", key, node)
        else:
            used(tracer, [key], node)
        return _any_of(owner)
    if isinstance(key, Untraced):
        used(tracer, [key], node)
        return _any_of(owner)
    if isinstance(key, py.SliceValue):
        live = next((b for b in bounds(key) if isinstance(b, Number) and is_live(b)), None)
        if live is not None:
            report_number(tracer, "index", live, node)
        lost_sight(tracer, bounds(key))
        if (
            live is None
            and any(isinstance(b, Number) for b in bounds(key))
            and not isinstance(owner, InputList)
        ):
            return containers.item(tracer, owner, plainly(key), node)
    if isinstance(owner, InputList) and isinstance(key, py.SliceValue):
        structure(tracer, owner)
    if isinstance(owner, InputDict) and owner.open:
        return Traced(origin=owner.origin.then(node))
    return _only_item(tracer, owner, key) if isinstance(key, py.Unknown) else _further_size(owner, key)


def _further_size(owner: py.Value, key: py.Value) -> py.Value | None:
    """An item beyond those that are known of a container of sizes: a size, too; None for any other."""
    if not isinstance(owner, (py.ListValue, py.TupleValue, py.DictValue)) or not owner.open:
        return None
    held = list(owner.items.values()) if isinstance(owner, py.DictValue) else list(owner.items)
    known = next((value for value in held if isinstance(value, Number) and is_live(value)), None)
    wanted = py.constant(key)
    if known is None or isinstance(wanted, py.Unknown):
        return None
    is_told = wanted in owner.items if isinstance(owner, py.DictValue) else wanted in range(len(held))
    return None if is_told else size(known.origin)


def _only_item(tracer: Tracer, owner: py.Value, key: py.Unknown) -> py.Value | None:
    """What a dict of one item gives for any key that it does not refuse, which tells a rank; None for any other."""
    if type(owner) is not py.DictValue or owner.open or owner.untold or len(owner.items) != 1:
        return None
    if owner.factory is not None or owner.filled_by is not None or owner.registry_of is not None:
        return None
    ((wanted, found),) = owner.items.items()
    if isinstance(key, Fixed) and isinstance(wanted, int):
        shaping.learn(tracer, ranks.compared(tracer, ast.Eq(), key, py.Const(wanted))[1].if_true)
    return found


def _any_of(owner: py.Value) -> py.Value:
    """One of a container's values, whichever."""
    if isinstance(owner, (py.ListValue, py.TupleValue)) and owner.items:
        found = owner.items[0]
    elif isinstance(owner, py.DictValue) and owner.items:
        found = next(iter(owner.items.values()))
    elif isinstance(owner, py.ModuleValue) and owner.children:
        found = next(iter(owner.children.values()))
    else:
        return py.Unknown()
    return frozen(NOWHERE, "data") if isinstance(found, py.Const) else found
