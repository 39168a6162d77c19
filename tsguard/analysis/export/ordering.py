"""Sorting and searching by Python, whose comparisons need numbers that depend on data."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.export import data
from tsguard.analysis.trace.values import Traced, parts

if TYPE_CHECKING:
    from tsguard.analysis.trace.context import Tracer


def ordered(tracer: Tracer, items: Sequence[py.Value], key: py.Value | None, node: ast.AST) -> None:
    """``items.sort(key=...)``, ``max(items, key=...)``: what the key gives of each is compared."""
    if len(items) < 2:
        return
    first = items[0] if key is None else tracer.call(key, [items[0]], {}, node)
    data.symbol_wanted(tracer, "data-number/extreme", parts([first]), node)
    if isinstance(first, Traced):
        data.asked(tracer, first, node)


def looked_for(tracer: Tracer, items: Sequence[py.Value], value: py.Value, node: ast.AST) -> None:
    """``items.index(value)``, ``items.count(value)``: each is compared with it."""
    if len(items) > 1:
        data.symbol_wanted(tracer, "data-number/extreme", [value, *items], node)


def any_asked(tracer: Tracer, items: Sequence[py.Value], node: ast.AST) -> None:
    """``any(items)``, ``all(items)``: each is asked whether it is true, until one decides."""
    symbol = next((item for item in items if data.is_symbol(item)), None)
    if symbol is not None:
        data.asked(tracer, symbol, node)
