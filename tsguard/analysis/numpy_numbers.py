"""Whole numbers of NumPy, which are no ints of Python: torch takes them for no constants of TorchScript.

A ``float64`` is a float of Python, and so needs nothing of the kind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class NumpyInt(int):
    """A number that NumPy has calculated of whole ones, and what Python calculates of such with ints."""


def _calculated(name: str) -> Callable[..., Any]:
    plain = getattr(int, name)

    def run(*numbers: Any) -> Any:
        result = plain(*numbers)
        return NumpyInt(result) if type(result) is int else result

    return run


_KEPT = ("abs", "add", "floordiv", "mod", "mul", "neg", "pos", "pow", "radd", "rfloordiv", "rmod", "rmul", "rpow", "rsub", "sub")  # fmt: skip
for _name in _KEPT:
    setattr(NumpyInt, f"__{_name}__", _calculated(f"__{_name}__"))


def calculated(number: float) -> Any:
    """A whole number as NumPy's; of no declared type, because what is compiled makes an int of what derives from it."""
    return NumpyInt(number)


# As messages name it.
NumpyInt.__name__ = NumpyInt.__qualname__ = "int64"
