"""What makes a tensor of Python's numbers, or of a numpy array: a constant of the trace."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tsguard.analysis import values as py
from tsguard.analysis.export import data
from tsguard.analysis.python import operations
from tsguard.analysis.trace import results
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.operators import tensor
from tsguard.analysis.trace.uses import lost_sight, used
from tsguard.analysis.trace.values import Derived, Number, Opaque, Traced, is_live, parts

Args = list[py.Value]
Kwargs = dict[str, py.Value]
Handler = Callable[["Tracer", Args, Kwargs, ast.AST], "py.Value | None"]


def _from_values(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """``torch.tensor([...])`` makes a constant of the numbers in it."""
    given = args[0] if args else kwargs.get("data", py.NONE)
    used(tracer, [given, *kwargs.values()], node)
    results.note_properties(tracer, kwargs, node)
    if is_live(given) or isinstance(given, Opaque):
        tracer.report("harmless-warning/scalar", node)
        made = tensor([given], node)
        if isinstance(made, Traced):
            made.of_size = data.is_number(tracer, given)
        return made
    live = next((value for value in parts([given]) if is_live(value)), None)
    if live is None:
        tracer.report("harmless-warning/constant", node)
        listed = operations.default_of(given)
        return py.TensorValue(
            several=isinstance(listed, (py.ListValue, py.TupleValue)) and len(listed.items) > 1
        )
    assert isinstance(live, (Traced, Number))
    of_sizes = isinstance(live, Number) and live.kind == "size"
    tracer.report("constant-from-values/sizes" if of_sizes else "constant-from-values", node, live.origin)
    several = isinstance(given, (py.ListValue, py.TupleValue)) and (given.open or len(given.items) > 1)
    return py.TensorValue(several=several)


def _shared(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """``torch.from_numpy(array)`` and ``torch.asarray(...)`` make a constant of what no input gives."""
    given = [*args, *kwargs.values()]
    if not any(isinstance(value, (Derived, Traced)) for value in parts(given)):
        return py.TensorValue()
    lost_sight(tracer, given)
    return results.opaque(given, node)


def constructed(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value:
    """``torch.Tensor(n, m)`` and ``torch.FloatTensor([...])`` take numbers as they are, and one tensor as it is."""
    if len(args) == 1 and isinstance(args[0], Traced):
        return tensor(args, node)
    lost_sight(tracer, args)
    live = next((value for value in parts(args) if is_live(value)), None)
    if live is not None:
        assert isinstance(live, (Traced, Number))
        tracer.report("constant-from-values/constructor", node, live.origin)
    return py.TensorValue()


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(("torch.tensor", "torch.as_tensor"), _from_values),
    **dict.fromkeys(("torch.asarray", "torch.from_numpy"), _shared),
    "torch.Tensor": constructed,
}
