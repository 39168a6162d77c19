"""Dtypes that the source tells: of casts and of comparisons, whatever the inputs are."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tsguard.analysis import values as py

_SIZES = {
    "bool": 1, "uint8": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "float16": 2, "bfloat16": 2,
    "float32": 4, "float64": 8, "complex64": 8, "complex128": 16,
}  # fmt: skip


def _is_complex(dtype: str) -> bool:
    return dtype.startswith("complex")


def _is_floating(dtype: str) -> bool:
    return "float" in dtype


def _is_signed(dtype: str) -> bool:
    return dtype not in ("bool", "uint8")


_TOLD: dict[str, Callable[[str], object]] = {
    "is_complex": _is_complex,
    "is_floating_point": _is_floating,
    "is_signed": _is_signed,
    "is_quantized": lambda dtype: False,
    "itemsize": _SIZES.__getitem__,
}


def told(name: str, dtype: str) -> py.Value | None:
    """What a dtype says of itself; None where it is not known."""
    return py.Const(_TOLD[name](dtype)) if dtype in _SIZES else None


def named(given: Sequence[py.Value]) -> str:
    """The dtype among some arguments; "" where none is one."""
    return next((value.name for value in given if isinstance(value, py.Atom) and value.kind == "dtype"), "")


def of_dtype(tensor: py.TensorValue, dtype: str) -> py.TensorValue:
    """A tensor that an operation has just made, which gives it a dtype."""
    tensor.dtype = dtype
    return tensor
