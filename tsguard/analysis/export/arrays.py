"""Dynamic sizes passed to NumPy: refused, specialised, or still symbols.

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
        "acos", "acosh", "angle", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "around",
        "asin", "asinh", "atan", "atan2", "atanh", "bitwise_count", "bitwise_invert", "bitwise_not", "blackman", "cbrt",
        "copysign", "corrcoef", "cos", "cosh", "cov", "deg2rad", "degrees", "delete", "divmod", "exp", "exp2", "expm1",
        "fabs", "fft.fftfreq", "fft.rfftfreq", "float_power", "fmod", "frexp", "geomspace", "hamming", "hanning",
        "heaviside", "histogram", "histogram_bin_edges", "histogramdd", "hypot", "invert", "isfinite", "isinf", "isnan",
        "isneginf", "isposinf", "kaiser", "ldexp", "log", "log10", "log1p", "log2", "logaddexp", "logaddexp2",
        "logical_xor", "modf", "nanstd", "nextafter", "packbits", "pad", "polydiv", "rad2deg", "radians",
        "random.permutation", "record", "result_type", "rint", "round", "signbit", "sin", "sinc", "sinh", "spacing",
        "sqrt", "std", "tan", "tanh", "timedelta64", "void",
    ]
)  # fmt: skip
_HOLDING = frozenset(
    [
        "arange", "array_split", "bartlett", "base_repr", "binary_repr", "bincount", "broadcast_shapes", "broadcast_to",
        "byte", "bytes_", "cdouble", "clongdouble", "complex128", "complex256", "complex64", "csingle", "diag",
        "diag_indices", "diagonal", "double", "empty", "eye", "float128", "float16", "float32", "float64",
        "format_float_positional", "format_float_scientific", "full", "gcd", "half", "i0", "identity", "indices",
        "insert", "int16", "int32", "int64", "int8", "int_", "intc", "intp", "lcm", "linspace", "logspace", "long",
        "longdouble", "longlong", "ndindex", "ones", "ravel_multi_index", "repeat", "reshape", "resize", "roll",
        "roots", "rot90", "short", "single", "sort_complex", "split", "take", "tile", "trace", "tri", "tril",
        "tril_indices", "triu", "triu_indices", "ubyte", "uint", "uint16", "uint32", "uint64", "uint8", "uintc",
        "uintp", "ulong", "ulonglong", "unravel_index", "unwrap", "ushort", "vander", "zeros",
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
