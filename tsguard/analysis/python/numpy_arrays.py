"""What numpy returns while a module is constructed: arrays, scalars that are no Python numbers, floats."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tsguard.analysis.numpy_numbers import NumpyInt, calculated
from tsguard.analysis.python import numpy_rows
from tsguard.analysis.python.folding import folded_default
from tsguard.analysis.values import (
    BoundMethod,
    Const,
    External,
    ListValue,
    ObjectValue,
    TupleValue,
    Unknown,
    Value,
    constant,
)

_MAKERS = frozenset(
    [
        "append", "arange", "argsort", "array", "asarray", "ascontiguousarray", "bartlett", "blackman",
        "broadcast_to", "column_stack", "concatenate", "convolve", "cumprod", "cumsum", "delete", "diag", "diff",
        "dstack", "empty", "empty_like", "expand_dims", "eye", "flip", "fliplr", "flipud", "full", "full_like",
        "geomspace", "hamming", "hanning", "hstack", "identity", "insert", "kaiser", "kron", "linspace", "logspace",
        "moveaxis", "ones", "ones_like", "outer", "pad", "random.choice", "random.permutation", "random.rand",
        "random.randint", "random.randn", "repeat", "reshape", "roll", "rot90", "sort", "squeeze", "stack",
        "swapaxes", "tile", "transpose", "tri", "tril", "triu", "unique", "vander", "vstack", "zeros", "zeros_like",
    ]
)  # fmt: skip
_GENERATORS = frozenset(["random.Generator", "random.RandomState", "random.default_rng"])
_DRAWS = frozenset(["random.rand", "random.randn"])
_PAIRS = frozenset(["diag_indices", "tril_indices", "triu_indices"])
_ELEMENTWISE = frozenset(
    ["abs", "ceil", "clip", "cos", "exp", "floor", "log", "log10", "log2", "power", "sin", "sqrt"]
)
_SETTING = frozenset(["copyto", "place", "put", "putmask", "random.shuffle"])
_SCALARS = frozenset(["float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool_"])
# By Python's own functions, of no numbers, too: numpy makes floats of them, or raises.
_OF_ALL: dict[str, Callable[..., Any]] = {
    "amax": max,
    "amin": min,
    "max": max,
    "min": min,
    "prod": math.prod,
    "sum": sum,
}
# Numbers of numpy, of which the type hangs on what the array holds.
_REDUCING = frozenset(["all", "any", "argmax", "argmin", "max", "mean", "min", "prod", "std", "sum", "var"])
_GIVEN = "what it was given"
_METHODS = frozenset(
    ["astype", "clip", "copy", "flatten", "ravel", "repeat", "reshape", "squeeze", "transpose"]
)


def is_array(value: Value) -> bool:
    return isinstance(value, ObjectValue) and value.cls == numpy_rows.ARRAY


def is_scalar(value: Value) -> bool:
    """Whether a value is a number of numpy that is none of Python."""
    if isinstance(value, Const):
        return isinstance(value.value, NumpyInt)
    named = value.cls.name if isinstance(value, ObjectValue) and isinstance(value.cls, External) else ""
    return named.startswith("numpy.") and named.removeprefix("numpy.") in _SCALARS


def call(function: External, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The result of a function of numpy; its float64 is a float."""
    short = function.name.partition(".")[2]
    asked = [name for name, value in kwargs.items() if name.startswith("return_") and constant(value) is True]
    if short == "unique" and asked:
        return TupleValue(tuple(array() for _ in ("values", *asked)))
    known = _drawn(short, args, kwargs) or numpy_rows.made(short, args, kwargs)
    if known is not None:
        return known
    if short in _SETTING and args:
        numpy_rows.forget(args[0])
    if short in ("array", "asarray") and len(args) == 1 and not kwargs and _may_be_whole(args[0]):
        return ObjectValue(numpy_rows.ARRAY, {_GIVEN: args[0]}, open=True)
    if short in _MAKERS or (short in _ELEMENTWISE and any(map(is_array, args))):
        return array()
    if short in _GENERATORS:
        return _object("random.Generator")
    if short in _PAIRS:
        return TupleValue((array(), array()))
    known = _of_numbers(short, args[0]) if len(args) == 1 and not kwargs else None
    if known is not None:
        return known
    if short == "prod" and (kwargs or len(args) != 1 or (is_array(args[0]) and not _is_of_sizes(args[0]))):
        return Unknown()
    if short in _SCALARS or short == "prod":
        return _object("int64" if short == "prod" else short)
    if short == "float64" or (short in _ELEMENTWISE and all(isinstance(arg, Const) for arg in args)):
        return Unknown(None, "float")
    return Unknown()


def _drawn(short: str, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """A random number; None where it is an array, or something else is called."""
    if short in _DRAWS and not args and not kwargs:
        return Unknown(None, "float")
    if short == "random.randint" and not kwargs.keys() & {"size", "dtype"} and len(args) < 3:
        return Unknown(None, "int")
    return None


def _of_numbers(short: str, given: Value) -> Value | None:
    """What a function of numpy makes of a number or of a sequence of numbers; None where that is not known."""
    if short == "int64" and isinstance(constant(given), int):
        return folded_default(calculated, [constant(given)])
    numbers = numpy_rows.numbers_of(given) if short in _OF_ALL else None
    if numbers is None:
        return None
    is_whole = bool(numbers) and all(isinstance(number, int) for number in numbers)
    return folded_default(lambda: (calculated if is_whole else float)(_OF_ALL[short](numbers)), [])


def attribute(owner: ObjectValue, name: str) -> Value:
    """An attribute of an array or a scalar."""
    if numpy_rows.is_row(owner) and name in _OF_ALL:
        return BoundMethod(External(f"method.{name}"), owner)
    of_row = numpy_rows.attribute(owner, name)
    if of_row is not None:
        return of_row
    if is_array(owner) and (name in _METHODS or name in _REDUCING):
        return BoundMethod(External(f"method.{name}"), owner)
    return array() if is_array(owner) and name == "T" else Unknown()


def method(receiver: Value, name: str, args: list[Value]) -> Value | None:
    """The result of a method of an array; None of other receivers."""
    is_over_all = numpy_rows.is_row(receiver) and name in _OF_ALL and not args
    of_row = _of_numbers(name, receiver) if is_over_all else numpy_rows.method(receiver, name, args)
    if of_row is not None:
        return of_row
    if not is_array(receiver):
        return None
    if name in _REDUCING:
        is_size = name == "prod" and not args and _is_of_sizes(receiver)
        return _object("int64") if is_size else Unknown()
    return array() if name in _METHODS else None


def _is_of_sizes(value: Value) -> bool:
    """Whether an array is taken for one of whole numbers."""
    return isinstance(value, ObjectValue) and _GIVEN in value.attributes


def _may_be_whole(given: Value) -> bool:
    """Whether an array is of numbers that nothing tells, as the product of the sizes of a shape is taken."""
    items = given.items if isinstance(given, (ListValue, TupleValue)) else [given]
    are_open = any(isinstance(item, Unknown) for item in items)
    return are_open and all(isinstance(item, Unknown) or isinstance(constant(item), int) for item in items)


def array() -> ObjectValue:
    """An array of which nothing is known."""
    return _object("ndarray")


def _object(name: str) -> ObjectValue:
    return ObjectValue(External(f"numpy.{name}"), {}, open=True)
