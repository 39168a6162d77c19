"""Indices of tensors: where torch.export accepts a symbol, and where it needs the number.

``x[n]`` and ``x[:n]`` are made a select and a slice, which take symbols; beside what gathers (a list, a tensor of
several indices, a mask) they are not, and no more where elements are set.
Source: torch/_export/non_strict_utils.py (``_override`` of ``__getitem__``), and runs on torch 2.13.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.export import data, recording, sizes
from tsguard.analysis.export.reports import not_known, report
from tsguard.analysis.trace import shaping
from tsguard.analysis.trace.shapes.selecting import is_mask
from tsguard.analysis.trace.values import Number, Traced
from tsguard.language.releases import ways

if TYPE_CHECKING:
    from tsguard.analysis.trace.context import Tracer


def taken(tracer: Tracer, key: py.Value, node: ast.AST) -> None:
    """``x[key]`` is read."""
    if isinstance(key, py.ListValue):
        _listed(tracer, _asked(tracer, key.items), node)
    keys = _each(key)
    _truths(tracer, keys, node)
    if any(isinstance(part, Traced) and _is_single(tracer, part) for part in keys):
        tracer.exports.is_asked_of_compile = False
    for part in keys:
        if isinstance(part, py.SliceValue):
            data.number_wanted(tracer, "data-number/argument", [part.step], node)
    if any(_gathers(tracer, part) for part in keys):
        singles = [part for part in keys if _is_single(tracer, part)]
        data.number_wanted(tracer, "data-number/beside", _asked(tracer, singles), node)
        sizes.wanted(tracer, "fixed-size/index", singles, node)
        _note_untold(tracer, _asked(tracer, keys), node)


def set_(tracer: Tracer, owner: py.TensorValue, key: py.Value, value: py.Value, node: ast.AST | None) -> None:
    """``x[key] = y``: there a tensor of one number is asked for it, and so is a symbol among others."""
    keys = _each(key)
    _truths(tracer, keys, node)
    recording.changed(tracer, owner, node)
    if isinstance(owner, Traced):
        owner.recorded = owner.recorded or recording.are_recorded(tracer, [value])
    bounds = [bound for part in keys for bound in _numbers(part)]
    if any(data.is_symbol(bound) for bound in bounds) and recording.are_recorded(tracer, [owner, value]):
        data.symbol_wanted(tracer, "data-number/recorded", bounds, node)
    if isinstance(key, py.ListValue):
        _listed(tracer, _asked(tracer, key.items), node)
    if isinstance(key, py.TupleValue):
        numbers = [part for part in keys if isinstance(part, Number)]
        data.symbol_wanted(tracer, "data-number/element", numbers, node)
        sizes.wanted(tracer, "fixed-size/index", numbers, node)
    _note_untold(tracer, _asked(tracer, keys), node)
    for part in keys:
        if isinstance(part, Traced) and _is_single(tracer, part):
            data.number_wanted(tracer, "data-number/place", _asked(tracer, [part]), node)
        elif isinstance(part, py.SliceValue):
            taken_of = next((one for one in _numbers(part) if isinstance(one, Traced)), None)
            if taken_of is not None:
                report(tracer, "data-number/bound", node, taken_of.origin)


def _note_untold(tracer: Tracer, keys: list[py.Value], node: ast.AST | None) -> None:
    """Whether a tensor holds one index or several decides whether the number is needed."""
    for part in keys:
        if isinstance(part, Traced) and node is not None and _may_be_single(tracer, part):
            not_known(tracer, node, "the source does not tell whether an index is one number or several")


def _asked(tracer: Tracer, indices: list[py.Value]) -> list[py.Value]:
    """The indices of which the release needs the numbers: of tensors it may take them as they are."""
    if not ways(tracer.tables.release).indexes_by_tensors:
        return indices
    asked = [one for one in indices if not isinstance(one, Traced)]
    if len(asked) < len(indices):
        tracer.exports.is_asked_of_compile = False
    return asked


def _listed(tracer: Tracer, items: list[py.Value], node: ast.AST | None) -> None:
    """Of a list of indices a tensor is made, of numbers alone."""
    data.number_wanted(tracer, "data-number/index", items, node)
    sizes.wanted(tracer, "fixed-size/index", items, node)


def _truths(tracer: Tracer, keys: list[py.Value], node: ast.AST | None) -> None:
    """Whether a single truth lets anything through has to be known."""
    for part in keys:
        if isinstance(part, Traced) and is_mask(part) and _has_no_dimensions(tracer, part):
            data.asked(tracer, part, node)


def _each(key: py.Value) -> list[py.Value]:
    return list(key.items) if isinstance(key, py.TupleValue) else [key]


def _numbers(part: py.Value) -> list[py.Value]:
    """The numbers by which a part of a tensor is told."""
    return [part.start, part.stop, part.step] if isinstance(part, py.SliceValue) else [part]


def _gathers(tracer: Tracer, part: py.Value) -> bool:
    """Whether an index takes several elements, each by its own place."""
    if isinstance(part, py.ListValue):
        return True
    if not isinstance(part, py.TensorValue):
        return False
    extent = shaping.extent(tracer, part)
    rank = None if extent is None else extent.rank
    return is_mask(part) or part.name == "aten::arange" or rank not in (None, 0)


def _is_single(tracer: Tracer, part: py.Value) -> bool:
    """Whether an index is one number: of Python, or the only element of a tensor."""
    if not isinstance(part, Traced):
        return isinstance(part, Number)
    return not is_mask(part) and _has_no_dimensions(tracer, part)


def _may_be_single(tracer: Tracer, part: Traced) -> bool:
    """Whether an index is an element or a row, one after the other, of a tensor of unknown rank."""
    extent = shaping.extent(tracer, part)
    if is_mask(part) or (extent is not None and extent.rank is not None):
        return False
    step = part.origin.node
    if isinstance(step, ast.Call):
        return getattr(step.func, "id", "") in _ONE_BY_ONE
    if not isinstance(step, ast.Subscript):
        return False
    return isinstance(step.slice, ast.Name) or isinstance(getattr(step.slice, "value", None), int)


_ONE_BY_ONE = frozenset({"enumerate", "zip"})


def _has_no_dimensions(tracer: Tracer, part: Traced) -> bool:
    extent = shaping.extent(tracer, part)
    return extent is not None and extent.rank == 0
