"""Devices that a trace keeps: those of the module's own tensors, and of tensors that others are made like."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TypeGuard

from tsguard.analysis import values as py
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.rulebook import FIXED_ALIKE, VARIED
from tsguard.analysis.trace.values import Traced


def is_of_module(value: py.Value) -> TypeGuard[py.TensorValue]:
    """Whether a tensor is a parameter or a buffer, or made of such alone: it moves with the module."""
    if isinstance(value, Traced):
        return value.of == "state"
    return isinstance(value, py.TensorValue) and bool(value.role)


def of_module(tracer: Tracer) -> py.Atom:
    """The device of such a tensor while tracing, which is where the linter is."""
    device = py.Atom("device", "cpu")
    tracer.module_devices[id(device)] = device
    return device


def note(tracer: Tracer, given: Iterable[py.Value | None], node: ast.AST) -> None:
    """Say that a call puts a tensor where the module is, or where another tensor is, while tracing."""
    for value in given:
        if id(value) in tracer.module_devices or (value is not None and is_of_module(value)):
            tracer.report("fixed-property/module-device", node)
        elif isinstance(value, Traced) and value.of == "inputs":
            is_other = tracer.varies(value.origin, "dtype")
            tracer.report(VARIED["dtype"] if is_other else FIXED_ALIKE, node, value.origin)
