"""How many dimensions an input has, where nothing tells: what the walk asks of that, and what the answer tells."""

from __future__ import annotations

import ast

from tsguard.analysis import values as py
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.shapes.dims import Symbol, number
from tsguard.analysis.trace.shapes.facts import is_input, rank_of
from tsguard.analysis.trace.values import NOTHING, Fixed, Truths

_MIRRORED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
}
# Beside which numbers a comparison changes its answer, counted from the one that is compared with.
_STEPS: dict[type[ast.cmpop], tuple[int, ...]] = {
    ast.Eq: (0,),
    ast.NotEq: (0,),
    ast.Gt: (0, 1),
    ast.LtE: (0, 1),
    ast.Lt: (-1, 0),
    ast.GtE: (-1, 0),
}


def compared(
    tracer: Tracer, op: ast.cmpop, left: py.Value, right: py.Value
) -> tuple[py.Value | None, Truths]:
    """What ``left op right`` is where one of them is an open rank, and what follows from it."""
    if isinstance(left, py.Const) and isinstance(right, Fixed):
        mirrored = _MIRRORED.get(type(op))
        return compared(tracer, op if mirrored is None else mirrored(), right, left)
    wanted = py.constant(right)
    if not isinstance(left, Fixed) or not isinstance(wanted, int) or type(op) not in _STEPS:
        return None, NOTHING
    found = _tensor_of(tracer, left)
    if found is None:
        return None, NOTHING
    tensor, more = found
    wanted -= more
    is_unequal = isinstance(op, ast.NotEq)
    if (is_unequal or isinstance(op, ast.Eq)) and wanted in tracer.facts.other_ranks.get(tensor, ()):
        return py.Const(is_unequal), NOTHING
    if is_input(tensor):
        ranks = (wanted + step for step in _STEPS[type(op)])
        least = 0 if isinstance(op, (ast.Eq, ast.NotEq)) else 1
        tracer.asked_ranks.setdefault(tensor, set()).update(rank for rank in ranks if rank >= least)
    equations = ((rank_of(tensor), number(wanted)),)
    told = Truths(if_true=equations) if isinstance(op, ast.Eq) else NOTHING
    return None, Truths(if_false=equations) if is_unequal else told


def _tensor_of(tracer: Tracer, rank: Fixed) -> tuple[Symbol, int] | None:
    """The tensor of which a value is the rank, and how many dimensions more than it that counts."""
    extent = None if rank.extent is None else tracer.facts.extent(rank.extent)
    if rank.default is not None or extent is None or extent.lead is None or extent.lead.tensor is None:
        return None
    return extent.lead.tensor, len(extent.dims) - extent.lead.dropped


def is_among(tracer: Tracer, rank: Fixed, numbers: py.Value) -> py.Value | None:
    """``x.dim() in (3, 4)``: False where it is known to be none of them; None where it is open."""
    if not isinstance(numbers, (py.TupleValue, py.ListValue, py.SetValue)) or numbers.open:
        return None
    answers = [compared(tracer, ast.Eq(), rank, item)[0] for item in numbers.items]
    return py.FALSE if answers and all(answer == py.FALSE for answer in answers) else None
