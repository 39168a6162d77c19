"""What NumPy makes of a size that is left open: refused, held, or still a symbol.

Each function of numpy 2 was given a symbol by exporting with torch 2.13.  An array of objects holds the
symbol, and so arithmetic and rounding go well; what asks the object for a method of that name raises, and
what needs a number of its own makes torch.export hold the size.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.export import data, sizes
from tsguard.analysis.export.reports import report
from tsguard.analysis.python import numpy_arrays
from tsguard.analysis.trace.values import Traced

if TYPE_CHECKING:
    from tsguard.analysis.trace.context import Tracer

_RAISING = frozenset(
    [
        "acos", "acosh", "angle", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh",
        "around", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_count", "bitwise_invert", "bitwise_not",
        "blackman", "cbrt", "copysign", "corrcoef", "cos", "cosh", "cov", "deg2rad", "degrees", "divmod", "exp",
        "exp2", "expm1", "fabs", "float_power", "fmod", "frexp", "geomspace", "hamming", "hanning", "heaviside",
        "histogram", "histogram_bin_edges", "histogramdd", "hypot", "invert", "isfinite", "isinf", "isnan",
        "isneginf", "isposinf", "kaiser", "ldexp", "log", "log10", "log1p", "log2", "logaddexp", "logaddexp2",
        "logical_xor", "modf", "nanstd", "nextafter", "packbits", "polydiv", "rad2deg", "radians", "record",
        "result_type", "rint", "round", "signbit", "sin", "sinc", "sinh", "spacing", "sqrt", "std", "tan",
        "tanh", "timedelta64", "void",
    ]
)  # fmt: skip
_HOLDING = frozenset(
    [
        "arange", "bartlett", "base_repr", "binary_repr", "bincount", "broadcast_shapes", "byte", "bytes_",
        "cdouble", "clongdouble", "complex128", "complex256", "complex64", "csingle", "diag_indices", "double",
        "empty", "eye", "float128", "float16", "float32", "float64", "format_float_positional",
        "format_float_scientific", "full", "gcd", "half", "i0", "identity", "indices", "int16", "int32", "int64",
        "int8", "int_", "intc", "intp", "lcm", "linspace", "logspace", "long", "longdouble", "longlong", "ones",
        "roots", "short", "single", "sort_complex", "tri", "tril_indices", "triu_indices", "ubyte", "uint",
        "uint16", "uint32", "uint64", "uint8", "uintc", "uintp", "ulong", "ulonglong", "unwrap", "ushort", "zeros",
    ]
)  # fmt: skip


def given(tracer: Tracer, name: str, values: Iterable[py.Value], node: ast.AST | None) -> None:
    """A function of NumPy is given values: tensors have no memory there, and sizes may be symbols."""
    values = list(values)
    data.array_wanted(tracer, values, node)
    if name in _RAISING:
        sizes.wanted(tracer, "lost-size", values, node)
    elif name in _HOLDING or name.startswith("random."):
        sizes.wanted(tracer, "fixed-size", values, node)


def calculated_with(tracer: Tracer, left: py.Value, right: py.Value, node: ast.AST) -> None:
    """``x * array``: NumPy is asked for the product, with an array made of the tensor."""
    if isinstance(left, Traced) and numpy_arrays.is_array(right):
        report(tracer, "outside-torch", node, left.origin)
