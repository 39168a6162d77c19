"""Tensors of constants that a forward makes and then writes into: they hold what they are given from there on."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tsguard.analysis import values as py
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.operators import tensor
from tsguard.analysis.trace.origins import Origin
from tsguard.analysis.trace.shapes.extents import known
from tsguard.analysis.trace.values import Traced, plainly

# Methods that give a tensor of the same memory.
VIEWS = frozenset(
    [
        "chunk", "detach", "diagonal", "expand", "expand_as", "flatten", "movedim", "narrow", "permute", "reshape",
        "select", "split", "squeeze", "swapaxes", "swapdims", "t", "transpose", "unbind", "unflatten", "unsqueeze",
        "view", "view_as",
    ]
)  # fmt: skip


def written(tracer: Tracer, owner: py.Value, given: Iterable[py.Value], node: ast.AST | None) -> None:
    """A tensor is written into: with data it is no constant any more."""
    if isinstance(owner, py.TensorValue) and not isinstance(owner, Traced):
        holds(tracer, owner, tensor([owner, *map(plainly, given)], node))


def holds(tracer: Tracer, owner: py.TensorValue, made: py.Value) -> None:
    """From here on a constant, and what it is a view of, holds what is ``made`` of inputs or of random numbers."""
    if not isinstance(made, Traced) or made.of == "state":
        return
    whole: py.TensorValue | None = owner
    while whole is not None and whole not in tracer.written:
        extent = made.extent if whole is owner and made.extent is not None else None
        if extent is None and whole.sizes is not None:
            extent = known(whole.sizes)
        tracer.written[whole] = Traced(
            dtype=whole.dtype,
            origin=made.origin,
            of=made.of,
            extent=extent,
            sizes_only=made.sizes_only,
            recorded=made.recorded,
        )
        if whole in tracer.constants:
            tracer.constants[tracer.written[whole]] = tracer.constants[whole]
        whole = tracer.views.get(whole)


# Initialisers that draw nothing.
_GIVEN = ("constant_", "ones_", "zeros_", "eye_", "dirac_", "calculate_gain")


def initialises(name: str) -> bool:
    """Whether a function of torch fills a tensor with random numbers to start from."""
    return name.startswith("torch.nn.init.") and not name.endswith(_GIVEN)


def drawn(tracer: Tracer, owner: py.Value, node: ast.AST | None) -> None:
    """A tensor is filled with random numbers."""
    if isinstance(owner, py.TensorValue) and not isinstance(owner, Traced):
        holds(tracer, owner, Traced(origin=Origin("random numbers", node), of="random"))


def viewed(tracer: Tracer, name: str, owner: py.TensorValue, result: py.Value) -> None:
    """What a method, or brackets (""), give of a tensor may be its memory."""
    if (name and name not in VIEWS and not name.endswith("_")) or result is owner:
        return
    parts = result.items if isinstance(result, (py.ListValue, py.TupleValue)) else [result]
    for part in parts:
        if not isinstance(part, py.TensorValue):
            continue
        if owner in tracer.unrecorded:
            tracer.unrecorded[part] = tracer.unrecorded[owner]
            if owner in tracer.shares or not name.endswith("_"):
                tracer.shares.add(part)
        elif not isinstance(owner, Traced) and not isinstance(part, Traced):
            tracer.views[part] = owner
