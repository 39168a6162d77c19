"""What is written through ``.data``: eager finds it in the tensor, the trace records it for another one."""

from __future__ import annotations

from collections.abc import Iterable

from tsguard.analysis import values as py
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.values import Traced, depends


def taken(tracer: Tracer, owner: py.TensorValue, data: py.TensorValue) -> None:
    """``self.weight.data``: ``data`` has the memory of ``owner``, a parameter or buffer."""
    cell = tracer.state.cells.get(owner)
    if cell is not None:
        tracer.state.alias(tracer, tracer.node)
        tracer.unrecorded[data] = cell


def changed(tracer: Tracer, tensor: py.Value | None, given: Iterable[py.Value]) -> None:
    """A tensor is changed in place.  What each call writes alike, the first call has left in the module already."""
    if not isinstance(tensor, py.TensorValue):
        return
    tracer.change(tensor)
    cell = tracer.unrecorded.get(tensor)
    if cell is not None and any(map(depends, given)):
        tracer.state.change_data(tracer, cell)


def replaced(tracer: Tracer, owner: py.Value, value: py.Value) -> None:
    """``x.data = value``."""
    if not isinstance(owner, py.TensorValue) or not depends(value):
        return
    cell = tracer.state.cells.get(owner)
    if cell is not None:
        tracer.state.change_data(tracer, cell)
    elif isinstance(owner, Traced) and owner.of == "inputs":
        tracer.report("detached-data/replaced", tracer.statement, owner.origin)
