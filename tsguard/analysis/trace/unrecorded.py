"""What is written through ``.data``: eager finds it in the tensor, the trace records it for another one."""

from __future__ import annotations

from collections.abc import Iterable

from tsguard.analysis import values as py
from tsguard.analysis.trace import kept_constants
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.filled import Cell
from tsguard.analysis.trace.guards import branches_among, is_within
from tsguard.analysis.trace.holdings import is_of_values
from tsguard.analysis.trace.self_assignments import is_reckoned_of_data
from tsguard.analysis.trace.values import Traced, depends, origin_of, parts

_RENEWING = frozenset(["copy_", "fill_", "zero_"])


def taken(tracer: Tracer, owner: py.TensorValue, data: py.TensorValue) -> None:
    """``self.weight.data``: ``data`` has the memory of ``owner``, a parameter or buffer."""
    cell = tracer.state.cells.get(owner)
    if cell is not None:
        tracer.state.alias(tracer, tracer.node)
        tracer.unrecorded[data] = cell


def changed(tracer: Tracer, tensor: py.Value | None, given: Iterable[py.Value], operation: str = "") -> None:
    """A tensor is changed in place.  What each call writes alike, the first call has left in the module already.

    ``operation`` names what is done, as a method of tensors.
    """
    if not isinstance(tensor, py.TensorValue):
        return
    tracer.change(tensor)
    given = list(given)
    kept_constants.changed(tracer, tensor, given, operation)
    if isinstance(tensor, Traced) and tensor.of == "state" and any(map(is_of_values, given)):
        tracer.state.fill_behind(tracer, tracer.enclosing)
    cell = tracer.unrecorded.get(tensor)
    if cell is None:
        return
    values = [value for value in given if value is not tensor]
    goes_on = kept_constants.goes_on(operation, values)
    if any(map(_differs, values)) or (goes_on and not _is_renewed(tracer, cell)):
        tracer.state.change_data(tracer, cell)
    elif operation in _RENEWING and tensor not in tracer.shares and not _is_renewed(tracer, cell):
        tracer.renewed[cell] = branches_among(tracer.enclosing)


def _is_renewed(tracer: Tracer, cell: Cell | None) -> bool:
    """Whether the call that comes here has written the whole anew before."""
    return cell is not None and is_within(tracer.enclosing, tracer.renewed.get(cell))


def _differs(value: py.Value) -> bool:
    """Whether another call may get another value: what the inputs give, or random numbers."""
    return depends(value) or any(isinstance(part, Traced) and part.of == "random" for part in parts([value]))


def drawn(tracer: Tracer, tensor: py.Value | None) -> None:
    """A tensor is filled with random numbers."""
    cell = tracer.unrecorded.get(tensor) if isinstance(tensor, py.TensorValue) else None
    if cell is not None and "torch" not in tracer.seeded:
        tracer.state.change_data(tracer, cell)


def _rests_on(tracer: Tracer, value: py.Value, cell: Cell | None) -> bool:
    """Whether a value is computed of what is kept at a place, and not that itself."""
    if cell is None or not isinstance(value, Traced) or value in tracer.unrecorded:
        return False
    return value.of == "state" and value.origin.root.name == f"self.{cell[1]}"


def replaced(tracer: Tracer, owner: py.Value, value: py.Value) -> None:
    """``x.data = value``."""
    if not isinstance(owner, py.TensorValue):
        return
    cell = tracer.state.cells.get(owner)
    is_reckoned = is_reckoned_of_data(tracer.statement, is_named=_rests_on(tracer, value, cell))
    goes_on = is_reckoned and not _is_renewed(tracer, cell)
    is_made = isinstance(owner, Traced) and owner.of == "inputs"
    if not goes_on and not is_made and not _differs(value):
        return
    if cell is not None:
        tracer.state.change_data(tracer, cell)
    elif is_made and isinstance(owner, Traced):
        tracer.report("detached-data/replaced", tracer.statement, owner.origin)
    elif (origin := origin_of([value])) is not None:
        tracer.report("detached-data/replaced", tracer.statement, origin)
