"""Where Python takes a number out of a tensor: the trace holds the example's from there on."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable

from tsguard.analysis import values as py
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.operators import binary, number_of
from tsguard.analysis.trace.rulebook import CONTENTS_OF
from tsguard.analysis.trace.shapes import extents
from tsguard.analysis.trace.shapes.dims import Symbol, symbol_dim
from tsguard.analysis.trace.shapes.operation import dim_of
from tsguard.analysis.trace.values import (
    Held,
    Number,
    Opaque,
    Shape,
    Traced,
    frozen,
    frozen_again,
    is_live,
    parts,
)
from tsguard.report.records import replace


def to_number(tracer: Tracer, value: Traced | Number, hint: str, node: ast.AST | None) -> py.Value:
    """``int(x)``, ``float(x)``, ``bool(x)``."""
    if isinstance(value, Traced) and value.of == "inputs" and (known := _converted(value.filling, hint)):
        return known
    if isinstance(value, Traced) and value.of != "inputs":
        tracer.report(CONTENTS_OF[value.of], node, value.origin)
        return _converted(value.filling, hint) or py.Unknown(None, hint)
    if isinstance(value, Number) and value.known is not None:
        return _converted(value.known, hint) or py.Unknown(None, hint)
    return number_of(tracer, "cast", value, node, hint)


def _converted(number: py.Value | None, hint: str) -> py.Value | None:
    """A number that is known, as the type makes it that is asked for."""
    if not isinstance(number, py.Const) or not isinstance(number.value, (int, float)):
        return None
    kinds: dict[str, type[float]] = {"int": int, "float": float, "bool": bool}
    return py.Const(kinds[hint](number.value)) if hint in kinds else None


def contents(tracer: Tracer, value: Traced | Number, method: str, node: ast.AST | None) -> py.Value:
    """``x.item()``, ``x.tolist()``."""
    hint = "list" if method == "tolist" else ""
    if isinstance(value, Traced) and value.of == "inputs" and method == "item" and value.filling is not None:
        return Held(None, "", value.filling)
    if isinstance(value, Traced) and value.of != "inputs":
        tracer.report(CONTENTS_OF[value.of], node, value.origin)
        return Held(None, hint, value.filling if not hint else None)
    number = number_of(tracer, method, value, node, hint)
    number.unbacked = value.unbacked if isinstance(value, Number) else "" if value.of_size else "data"
    if number.unbacked and number.dim is None and not hint:
        tracer.named_tensors += 1
        number.dim = symbol_dim(Symbol("data", ("item", tracer.named_tensors)))
    return number


_TO_WHOLE: dict[str, Callable[[float], int]] = {"ceil": math.ceil, "floor": math.floor, "trunc": math.trunc}


def mathematics(tracer: Tracer, name: str, args: list[py.Value], node: ast.AST) -> py.Value:
    """A function of the math module; ``math.prod`` only multiplies."""
    values = parts(args)
    if name == "prod":
        product: py.Value = py.Const(1)
        for value in values:
            if isinstance(value, (Number, py.Const, py.Unknown)) and not isinstance(value, Opaque):
                product = (
                    binary(tracer, ast.Mult(), product, value, node)
                    if isinstance(product, Number) or isinstance(value, Number)
                    else value
                )
        return product
    live = next((value for value in values if is_live(value)), None)
    if live is not None:
        assert isinstance(live, (Traced, Number))
        number = to_number(tracer, live, "float", node)
        if name in _TO_WHOLE and isinstance(number, Number) and isinstance(live, Number):
            number.dim = live.dim  # which is whole: quotients that need not be have none
        return number
    found = next((value for value in values if not isinstance(value, (py.Const, Shape))), py.Unknown())
    if isinstance(found, Number) and found.known is not None:
        return _whole(name, py.constant(found.known)) or py.Unknown(None, "float")
    return found


def _whole(name: str, number: object) -> py.Value | None:
    """What ``math.floor(n)`` makes of a number that is the same for every input."""
    return (
        py.Const(_TO_WHOLE[name](number)) if name in _TO_WHOLE and isinstance(number, (int, float)) else None
    )


def product(number: py.Value, args: list[py.Value]) -> py.Value:
    """What ``np.prod`` makes of sizes, with the formula of it."""
    sizes = args[0].items if isinstance(args[0], (py.TupleValue, py.ListValue)) else ()
    if not isinstance(number, Number) or not sizes or getattr(args[0], "open", False):
        return number
    return replace(number, hint="int", dim=extents.product(dim_of(size) for size in sizes))


def to_numpy(
    tracer: Tracer, args: list[py.Value], kwargs: dict[str, py.Value], node: ast.AST | None
) -> py.Value:
    """A function of numpy, which takes tensors and sizes as arrays."""
    for value in parts([*args, *kwargs.values()]):
        if is_live(value):
            assert isinstance(value, (Traced, Number))
            if not isinstance(value, Traced) or value.of == "inputs":
                return number_of(tracer, "numpy", value, node)
            return frozen(value.origin.then(node), "data")
    taken = next((v for v in parts([*args, *kwargs.values()]) if isinstance(v, Number)), None)
    return py.Unknown() if taken is None else frozen_again(taken, node)
