"""What is asked of a tensor and its dtype alone answers: ``x.is_complex()``, ``torch.is_complex(x)``."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.trace import attributes, dtypes
from tsguard.analysis.trace.values import Fixed
from tsguard.report.records import replace

if TYPE_CHECKING:
    from tsguard.analysis.trace.context import Tracer

_NAMES = ("is_complex", "is_floating_point", "is_signed")


def asked(tracer: Tracer, name: str, tensor: py.TensorValue, node: ast.AST) -> py.Value:
    """The answer to a question by its ``name``, which a trace keeps."""
    found = attributes.property_of(tracer, tensor, "dtype", node)
    told = dtypes.told(name, attributes.dtype_of(tracer, tensor))
    hint = "int" if name == "itemsize" else "bool"
    if isinstance(found, Fixed):
        return replace(found, hint=hint, default=told)
    return told if told is not None else py.Unknown(None, hint)


def _function(
    name: str,
) -> Callable[[Tracer, list[py.Value], dict[str, py.Value], ast.AST], py.Value | None]:
    def run(
        tracer: Tracer, args: list[py.Value], kwargs: dict[str, py.Value], node: ast.AST
    ) -> py.Value | None:
        given = args[0] if args else kwargs.get("input")
        return asked(tracer, name, given, node) if isinstance(given, py.TensorValue) else None

    return run


FUNCTIONS = {f"torch.{name}": _function(name) for name in _NAMES}
"""The functions of torch that ask so."""
