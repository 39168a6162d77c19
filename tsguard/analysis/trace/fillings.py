"""Tensors whose elements are all one number while nobody changes them: ``torch.zeros(n)``, and what is taken of it."""

from __future__ import annotations

from collections.abc import Sequence

from tsguard.analysis import values as py
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.values import Traced

_FILLED = {"zeros": py.Const(0), "ones": py.Const(1)}
# What gives elements of the first tensor, or all of them again.
_ALIKE = frozenset({"all", "any", "bool", "clone", "max", "min"})


def note(tracer: Tracer, name: str, args: Sequence[py.Value], result: Traced) -> None:
    """Note of a tensor that a function or method of torch has just made what it holds."""
    if name in _ALIKE:
        of_two = len(args) > 1 and name in ("max", "min")
        first = args[0] if args and not of_two else None
        result.filling = first.filling if isinstance(first, py.TensorValue) else None
        return
    kind = name.removeprefix("new_").removesuffix("_like")
    if kind in _FILLED:
        result.filling = _FILLED[kind]
    elif kind == "full" and len(args) > 1 and isinstance(args[-1], py.Const):
        result.filling = args[-1]
    if result.filling is not None:
        result.sizes_only = True
        tracer.filled.append(result)
