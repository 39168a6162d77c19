"""Sorting while tracing: the order of the items is the example's if their keys are."""

from __future__ import annotations

import ast
import functools

from tsguard.analysis import values as py
from tsguard.analysis.export import data
from tsguard.analysis.python.sorting import order_of
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.operators import report_number
from tsguard.analysis.trace.uses import used
from tsguard.analysis.trace.values import Number, Traced, is_live, plainly


def compared(tracer: Tracer, keys: list[py.Value], node: ast.AST) -> py.Value | None:
    """Report keys that Python compares; the first that the trace follows, None where there is none."""
    live = next((key for key in keys if is_live(key)), None)
    if live is None:
        used(tracer, keys, node)
        return None
    assert isinstance(live, (Number, Traced))
    report_number(tracer, "condition", live, node)
    return live


def ordered(
    tracer: Tracer, items: list[py.Value], kwargs: dict[str, py.Value], node: ast.AST, *, is_open: bool
) -> list[py.Value]:
    """The items in their order; where nothing tells it, each place holds any of them."""
    if len(items) + is_open < 2:
        return list(items)
    key = kwargs.get("key", py.NONE)
    keys = items if py.is_none(key) else [tracer.call(key, [item], {}, node) for item in items]
    data.symbol_wanted(tracer, "data-number/extreme", keys[:1], node)
    live = compared(tracer, keys, node)
    if live is not None:
        data.asked(tracer, live, node)
    order = order_of(tracer, [plainly(key) for key in keys], kwargs.get("reverse", py.FALSE))
    if order is None or is_open:
        return [functools.reduce(tracer.join, items)] * len(items)
    return [items[index] for index in order]
