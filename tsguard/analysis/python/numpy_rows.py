"""Arrays of one dimension whose numbers are known: what a constructor makes widths and rates of."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate, chain
from typing import Any, cast

from tsguard.analysis.budgets import UNROLLED_ITEMS
from tsguard.analysis.numpy_numbers import NumpyInt, calculated
from tsguard.analysis.python import sizes
from tsguard.analysis.values import (
    NONE,
    BoundMethod,
    Const,
    External,
    ListValue,
    ObjectValue,
    SliceValue,
    TupleValue,
    Value,
    constant,
    slice_of,
)

ARRAY = External("numpy.ndarray")
_NUMBERS = "its numbers"
_TYPES: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("builtins.int", "numpy.int", "numpy.int64", "numpy.int_"), int),
    **dict.fromkeys(("builtins.float", "numpy.float", "numpy.float64"), float),
}
_METHODS = frozenset(
    {"__getitem__", "__iter__", "__len__", "__setitem__", "astype", "copy", "cumsum", "tolist"}
)


def row(numbers: list[Any]) -> ObjectValue:
    """An array of whole numbers, or of floats."""
    is_whole = bool(numbers) and all(isinstance(number, int) for number in numbers)
    kept = tuple(Const(calculated(number) if is_whole else float(number)) for number in numbers)
    return ObjectValue(ARRAY, {_NUMBERS: TupleValue(kept)}, open=True)


def numbers_of(value: Value) -> list[Any] | None:
    """The numbers of a row, a list or a tuple; None where they are not known."""
    if isinstance(value, ObjectValue):
        value = value.attributes.get(_NUMBERS, value)
    if not isinstance(value, (ListValue, TupleValue)) or value.open or len(value.items) > UNROLLED_ITEMS:
        return None
    found = [constant(item) for item in value.items]
    are_numbers = all(isinstance(number, (int, float)) and not isinstance(number, bool) for number in found)
    return found if are_numbers else None


def is_row(value: Value) -> bool:
    """Whether a value is an array of known numbers."""
    return isinstance(value, ObjectValue) and _NUMBERS in value.attributes


def forget(value: Value) -> None:
    """Something may have set its elements."""
    if isinstance(value, ObjectValue):
        value.attributes.pop(_NUMBERS, None)


def made(short: str, args: list[Value], kwargs: dict[str, Value]) -> ObjectValue | None:
    """What a function of NumPy makes of known numbers; None where that is not known."""
    if kwargs or not args:
        return None
    if short in _OF_ROWS:
        numbers = numbers_of(args[0]) if len(args) == 1 else None
        return None if numbers is None else row(_OF_ROWS[short](numbers))
    given = [constant(arg) for arg in args]
    if short not in _OF_NUMBERS or not all(type(number) in (int, float) for number in given):
        return None
    numbers = _OF_NUMBERS[short](*given)
    return None if numbers is None else row(numbers)


def _spaced(start: Any, stop: Any, count: Any = 50) -> list[float] | None:
    """As ``numpy.linspace`` has it: the last is the end itself."""
    if type(count) is not int or not 0 < count <= UNROLLED_ITEMS:
        return None
    step = (stop - start) / (count - 1) if count > 1 else 0.0
    return [float(start + i * step) for i in range(count - 1)] + [float(stop if count > 1 else start)]


def _counted(*ends: Any) -> list[int] | None:
    whole = [end for end in ends if type(end) is int]
    if len(whole) < len(ends) or len(ends) > 3 or whole[2:] == [0]:
        return None
    counted = range(*whole)
    return list(counted) if 0 < len(counted) <= UNROLLED_ITEMS else None


_OF_ROWS: dict[str, Callable[[list[Any]], list[Any]]] = {
    "array": list,
    "asarray": list,
    "cumsum": lambda numbers: list(accumulate(numbers)),
    "sort": sorted,
}
_OF_NUMBERS: dict[str, Callable[..., list[Any] | None]] = {"arange": _counted, "linspace": _spaced}


def attribute(owner: ObjectValue, name: str) -> Value | None:
    """An attribute of a row; what is not known here may set its elements."""
    numbers = numbers_of(owner) if is_row(owner) else None
    if numbers is None:
        return None
    if name in ("shape", "size"):
        count = Const(len(numbers))
        return count if name == "size" else TupleValue((count,))
    if name in _METHODS:
        return BoundMethod(External(f"method.{name}"), owner)
    forget(owner)
    return None


def method(owner: Value, name: str, args: list[Value]) -> Value | None:
    """The result of a method of a row; None where it is not known."""
    numbers = numbers_of(owner) if is_row(owner) else None
    if numbers is None:
        return None
    if name == "__len__":
        return Const(len(numbers))
    if name in ("__iter__", "tolist"):
        plain = int if isinstance(numbers[:1] and numbers[0], int) else float
        return ListValue([Const(number if name == "__iter__" else plain(number)) for number in numbers])
    if name == "__getitem__" and len(args) == 1:
        return _item(numbers, args[0])
    if name == "__setitem__":
        _set(owner, numbers, args)
        return NONE
    if name in ("copy", "cumsum") and not args:
        return row(list(accumulate(numbers)) if name == "cumsum" else numbers)
    return _of_type(numbers, args[0]) if name == "astype" and len(args) == 1 else None


def _item(numbers: list[Any], key: Value) -> Value | None:
    if isinstance(key, SliceValue):
        part = slice_of(key)
        return None if part is None or part.step == 0 else row(numbers[part])
    index = cast("Any", constant(key))
    return Const(numbers[index]) if _is_index(index, numbers) else None


def _set(owner: Value, numbers: list[Any], args: list[Value]) -> None:
    """One element becomes a number, of the type that the array has; of anything else nothing is known."""
    forget(owner)
    index, number = (cast("Any", constant(arg)) for arg in args)
    if (
        isinstance(owner, ObjectValue)
        and _is_index(index, numbers)
        and type(number) in (int, float, NumpyInt)
    ):
        numbers[index] = type(numbers[index])(number)
        owner.attributes.update(row(numbers).attributes)


def _is_index(index: Any, numbers: list[Any]) -> bool:
    is_whole = isinstance(index, int) and not isinstance(index, bool)
    return is_whole and -len(numbers) <= index < len(numbers)


def _of_type(numbers: list[Any], dtype: Value) -> Value | None:
    named = dtype.name if isinstance(dtype, External) else f"numpy.{constant(dtype)}"
    kind = _TYPES.get(named)
    return None if kind is None else row([kind(number) for number in numbers])


def combined(function: Callable[[Any, Any], Any], left: Value, right: Value) -> Value | None:
    """``row * 2``, ``2 * row`` and ``row + row``, number by number; None where that is not known."""
    if not (is_row(left) or is_row(right)):
        return None
    numbers = numbers_of(left) or numbers_of(right) or []
    sides = [numbers_of(side) or [constant(side)] * len(numbers) for side in (left, right)]
    if len(sides[0]) != len(sides[1]) or not all(type(n) in (int, float, NumpyInt) for n in chain(*sides)):
        return None
    try:
        return row([function(one, other) for one, other in zip(*sides, strict=True)])
    except (ArithmeticError, ValueError, sizes.Huge):
        return None
