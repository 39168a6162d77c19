"""Dynamic dimensions: uses of a symbolic size for which torch.export specialises it to the example.

A size stays a symbol through arithmetic, comparisons (which bound it) and ``math.floor``; it is held where
Python needs an int of its own: ``int()``, ``len()``, ``range()``, a loop over rows, a number of repetitions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.export.reports import report
from tsguard.analysis.trace import shaping
from tsguard.analysis.trace.shapes.dims import Dim, Symbol
from tsguard.analysis.trace.values import Number, Traced, parts
from tsguard.language.rule_names import RuleName
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.trace.context import Tracer
    from tsguard.analysis.trace.origins import Origin


# Functions of Python, math and numpy that make another symbol of one.
_KEEPING = frozenset(
    {"ceil", "floor", "trunc", "round", "abs", "prod", "sum", "max", "min", "maximum", "minimum"}
)
# What needs all sizes of its tensors as numbers, as found by exporting each with torch 2.13.
_NUMBERING = frozenset(
    [
        "fill_diagonal_",
        "kron",
        "vander",
        "gradient",
        "multi_dot",
        "chain_matmul",
        "resize_as_",
        "take_along_dim",
    ]
)
# Methods that give a number of which every size is a factor.
_COUNTS = ("numel", "nelement")


def decided(tracer: Tracer, value: Number, node: ast.AST | None) -> None:
    """A branch asks whether a size is a given number, or a multiple of one: the program has the example's side."""
    parts_of = list(walked(node)) if node is not None else []
    found: int | None = None
    if any(isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod) for part in parts_of):
        found = _taken(tracer, value.origin)
    if found is None and any(map(_compares_with_number, parts_of)):
        for one, other in (*value.tells.if_true, *value.tells.if_false):
            found = _held(tracer, one) if found is None else found
            found = _held(tracer, other) if found is None else found
    _report(tracer, "fixed-size/condition", node, value.origin, found)


def _compares_with_number(node: ast.AST) -> bool:
    """``n == 4``: with a number that the source spells, but for 0 and 1, of which torch.export knows that it is none."""
    if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
        return False
    return any((_number(side) or 0) > 1 for side in (node.left, *node.comparators))


def wanted(tracer: Tracer, rule: RuleName, values: Iterable[py.Value], node: ast.AST | None) -> None:
    """Python needs the int that a size is."""
    for value in parts(values):
        if isinstance(value, Number) and value.kind == "size" and value.known is None and _is_symbol(value):
            found = _held(tracer, value.dim) if value.dim is not None else _taken(tracer, value.origin)
            if found is not None:
                _report(tracer, rule, node, value.origin, found)
                return


def _is_symbol(value: Number) -> bool:
    """Whether a size is a symbol of torch.export still: a trace loses it in functions that keep symbols."""
    if value.live:
        return True
    step: Origin | None = value.origin
    while step is not None and _index(step.node) is None:
        if isinstance(step.node, ast.Call) and _called(step.node) not in _KEEPING:
            return False
        step = step.parent
    return step is not None


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def rows_wanted(tracer: Tracer, tensor: Traced, dim: Dim | None, node: ast.AST | None) -> None:
    """Python needs to know how many rows a tensor has, which is ``dim``."""
    if tensor.of == "inputs" and dim is not None:
        _report(tracer, "fixed-size/rows", node, tensor.origin, _held(tracer, dim))


def called(tracer: Tracer, short: str, args: Iterable[py.Value], node: ast.AST) -> None:
    """A function or method of torch is called, which may need the sizes of its tensors as numbers."""
    for tensor in parts(args) if short in _NUMBERING else ():
        extent = shaping.extent(tracer, tensor) if isinstance(tensor, Traced) else None
        if isinstance(tensor, Traced) and extent is not None:
            held(tracer, tensor, [extent.first, *extent.dims], node)


def held(tracer: Tracer, tensor: Traced, dims: Iterable[Dim | None], node: ast.AST) -> None:
    """A function needs some sizes of its tensor as numbers."""
    _of_tensor(tracer, "fixed-size/operator", tensor, dims, node)


def compared(tracer: Tracer, tensor: Traced, dims: Iterable[Dim | None], node: ast.AST) -> None:
    """A function compares some sizes of its tensor with others."""
    _of_tensor(tracer, "fixed-size/compared", tensor, dims, node)


def _of_tensor(
    tracer: Tracer, rule: RuleName, tensor: Traced, dims: Iterable[Dim | None], node: ast.AST
) -> None:
    for dim in dims:
        if tensor.of == "inputs" and dim is not None:
            _report(tracer, rule, node, tensor.origin, _held(tracer, dim))


def stepped_over(tracer: Tracer, tensor: py.Value, dim: Dim | None, node: ast.AST | None) -> None:
    """A recurrent layer goes over a dimension step by step."""
    if isinstance(tensor, Traced) and tensor.of == "inputs" and dim is not None:
        _report(tracer, "fixed-size/steps", node, tensor.origin, _held(tracer, dim))


def element_wanted(tracer: Tracer, tensor: Traced, node: ast.AST | None) -> None:
    """Python needs the element of a tensor that is made of a size."""
    _report(tracer, "lost-size/element", node, tensor.origin, _taken(tracer, tensor.origin))


def _report(
    tracer: Tracer, rule: RuleName, node: ast.AST | None, origin: Origin, dimension: int | None
) -> None:
    if dimension is not None:
        report(tracer, rule, node, origin, dimension=str(dimension))


def _held(tracer: Tracer, dim: Dim) -> int | None:
    """The open dimension that a size rests on; None where it rests on none."""
    for symbol in tracer.facts.resolved(dim).inner_symbols():
        tensor = symbol.parts[0]
        if symbol.kind == "input" and isinstance(tensor, Symbol):
            index = symbol.parts[1]
            if isinstance(index, int) and _is_open(tracer, str(tensor.parts[0]), index):
                return index
            if index == "count":
                return _any_open(tracer, str(tensor.parts[0]))
    return None


def _taken(tracer: Tracer, origin: Origin) -> int | None:
    """The open dimension of an input that is read on the way to a value, as the source writes it."""
    name = origin.root.name
    step: Origin | None = origin
    while step is not None:
        index = _index(step.node)
        if index == "all":
            return _any_open(tracer, name)
        if isinstance(index, int) and _is_open(tracer, name, index):
            return index
        step = step.parent
    return None


_MOST_DIMENSIONS = 8


def _any_open(tracer: Tracer, name: str) -> int | None:
    """An open dimension of an input, of which each is a factor of how many elements it has."""
    return next((i for i in range(_MOST_DIMENSIONS) if _is_open(tracer, name, i)), None)


def _is_open(tracer: Tracer, name: str, index: int) -> bool:
    """Whether a dimension of an input (``x``, ``x[0]``) is to stay open: as asked for, else the first."""
    asked = tracer.program.open_sizes
    if not asked:
        return index == 0
    return any(
        index in dict(one.dimensions)
        and (name == one.input or name.startswith((f"{one.input}[", f"{one.input}.")))
        for one in asked
    )


def _index(node: ast.AST | None) -> int | str | None:
    """``x.shape[0]``, ``x.size(0)``: the dimension; "all" for ``x.numel()`` and ``prod(x.shape)``, of which each is a factor."""
    if isinstance(node, ast.Call) and _called(node) == "prod" and node.args and _is_shape(node.args[0]):
        return "all"
    if isinstance(node, ast.Subscript):
        return _number(node.slice) if _is_shape(node.value) else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in _COUNTS:
            return "all"
        return _number(node.args[0]) if node.func.attr == "size" and len(node.args) == 1 else None
    return None


def _is_shape(node: ast.expr) -> bool:
    """``x.shape``, ``x.size()``."""
    if isinstance(node, ast.Call):
        return _called(node) == "size" and not node.args
    return isinstance(node, ast.Attribute) and node.attr == "shape"


def _number(node: ast.expr) -> int | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, int) else None
