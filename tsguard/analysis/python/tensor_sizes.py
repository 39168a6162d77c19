"""The sizes of the tensors that constructors make, where they are plain numbers."""

from __future__ import annotations

from itertools import zip_longest

from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.trace.shapes import indexing, rules
from tsguard.analysis.trace.shapes.extents import Extent
from tsguard.analysis.trace.shapes.facts import Facts
from tsguard.analysis.trace.shapes.operation import Operation, Shaped
from tsguard.analysis.values import TensorValue, TupleValue, Value, constant

Sizes = tuple[int | None, ...]


def made(interp: Interpreter, name: str, args: list[Value], kwargs: dict[str, Value]) -> Sizes | None:
    """The sizes of what a function or method of torch returns; None where they are not known."""
    shaped = _shaped(interp, name, args, kwargs)
    return _sizes_of(shaped)


def sized(
    interp: Interpreter, result: Value, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    """The ``result`` of a function or method of torch with its sizes; as many tensors where it is known how many it gives."""
    shaped = _shaped(interp, name, args, kwargs)
    if isinstance(shaped, list):
        filling = result.filling if isinstance(result, TensorValue) else None
        return TupleValue(tuple(TensorValue(sizes=_sizes_of(one), filling=filling) for one in shaped))
    if isinstance(result, TensorValue):
        result.sizes = _sizes_of(shaped)
    return result


def _sizes_of(shaped: Shaped) -> tuple[int | None, ...] | None:
    return _sizes(shaped) if isinstance(shaped, Extent) else None


def _shaped(interp: Interpreter, name: str, args: list[Value], kwargs: dict[str, Value]) -> Shaped:
    rule = rules.rule_of(name)
    if rule is None:
        return None
    settled = {key: interp.settled(value) for key, value in kwargs.items()}
    return rule(Operation(Facts(), [interp.settled(value) for value in args], settled))


def of_item(owner: TensorValue, key: Value) -> Sizes | None:
    """The sizes of ``owner[key]``."""
    if owner.sizes is None:
        return None
    shaped = indexing.taken(Operation(Facts(), [owner, key]))
    return _sizes(shaped) if isinstance(shaped, Extent) else None


def _sizes(shape: Extent) -> Sizes | None:
    if shape.lead is not None:
        return None
    return tuple(None if dim is None else dim.number for dim in shape.dims)


def together(left: Value, right: Value) -> Sizes | None:
    """The sizes of ``left + right`` and its like: broadcast."""
    found = [
        value.sizes
        if isinstance(value, TensorValue)
        else ()
        if isinstance(constant(value), (int, float))
        else None
        for value in (left, right)
    ]
    if found[0] is None or found[1] is None:
        return None
    pairs = zip_longest(reversed(found[0]), reversed(found[1]), fillvalue=1)
    return tuple(reversed([_wider(a, b) for a, b in pairs]))


def _wider(a: int | None, b: int | None) -> int | None:
    return b if a == 1 else a if b == 1 or a == b else None
