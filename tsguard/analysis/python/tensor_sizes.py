"""The sizes of the tensors that constructors make, where they are plain numbers."""

from __future__ import annotations

from itertools import zip_longest

from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.values import (
    NONE,
    Const,
    ListValue,
    TensorValue,
    TupleValue,
    Unknown,
    Value,
    constant,
)
from tsguard.language.same_shape import SAME_SHAPE

Sizes = tuple[int | None, ...]


def made(interp: Interpreter, name: str, args: list[Value], kwargs: dict[str, Value]) -> Sizes | None:
    """The sizes of what a function of torch returns; None where they are not known."""
    if name in ("arange", "randperm"):
        return (_whole(interp, args[0]) if len(args) == 1 else None,)
    if name == "linspace":
        return (_whole(interp, args[2] if len(args) > 2 else kwargs.get("steps", NONE)),)
    if name in ("zeros", "ones", "empty", "rand", "randn", "full"):
        return _filled(interp, name, args, kwargs)
    first = interp.settled(args[0]) if args else NONE
    return first.sizes if name in SAME_SHAPE and isinstance(first, TensorValue) else None


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


def _filled(interp: Interpreter, name: str, args: list[Value], kwargs: dict[str, Value]) -> Sizes | None:
    given = args if args else [kwargs["size"]] if "size" in kwargs else []
    first = interp.settled(given[0]) if given else NONE
    if isinstance(first, (TupleValue, ListValue)):
        if first.open:
            return None
        given = list(first.items)
    elif name == "full" or any(not isinstance(interp.settled(value), (Const, Unknown)) for value in given):
        return None
    return tuple(_whole(interp, value) for value in given)


def _whole(interp: Interpreter, value: Value) -> int | None:
    number = constant(interp.settled(value))
    return number if isinstance(number, int) else None
