"""What Python asks of the data in tensors: torch.export has none to answer with.

``.item()`` and ``.tolist()`` give symbols, and so does the size of what ``nonzero()`` or a mask
selects: arithmetic and sizes made of them go well, whatever needs their value is refused.
Source: torch/fx/experimental/symbolic_shapes.py (guards on unbacked symbols), and runs on torch 2.13.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.export.reports import report
from tsguard.analysis.trace.values import Number, Traced, parts
from tsguard.language.rule_names import RuleName
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.trace.context import Tracer
    from tsguard.analysis.trace.origins import Origin

_CONDITION_OF: dict[str, RuleName] = {
    "inputs": "data-condition",
    "state": "data-condition/state",
    "random": "data-condition/random",
}
_OF_A_NUMBER = frozenset({"aten::tensor", "aten::as_tensor", "aten::scalar_tensor"})
# Functions of math that know symbols.
SYMBOLIC = frozenset({"floor", "ceil", "trunc", "prod"})


def asked(tracer: Tracer, value: py.Value, node: ast.AST | None) -> None:
    """A value is asked whether it is true."""
    if isinstance(value, Traced):
        if _is_data(tracer, value):
            report(tracer, _CONDITION_OF[value.of], node, value.origin)
    elif has_no_value(value):
        report(tracer, "data-condition/constant", node)
    elif isinstance(tracer.statement, ast.Assert):
        return  # of symbols, it is kept as a check at run time
    elif isinstance(value, Number) and value.unbacked:
        rule: RuleName = "data-condition/size" if value.kind == "size" else "data-condition/number"
        report(tracer, rule, node, value.origin)
    elif not isinstance(value, Number) and _takes_held_number(tracer, node):
        report(tracer, "data-condition/held", node)


def has_no_value(value: py.Value) -> bool:
    """Whether a tensor that no input reaches has no elements while exporting, which one of a single number has."""
    if not isinstance(value, py.TensorValue) or isinstance(value, Traced):
        return False
    return value.several or (value.name.startswith("aten::") and value.name not in _OF_A_NUMBER)


def _is_data(tracer: Tracer, value: Traced) -> bool:
    """Whether it was computed, or taken of something: a bare argument that is asked is most likely no tensor."""
    if tracer.exports.are_inputs_given:
        return True
    step: Origin | None = value.origin
    while value.of == "inputs" and step is not None:
        if isinstance(step.node, (ast.Call, ast.Subscript, ast.Attribute)):
            return True
        step = step.parent
    return value.of != "inputs"


def _takes_held_number(tracer: Tracer, node: ast.AST | None) -> bool:
    """Whether a condition holds a call that took a number out of a parameter or buffer."""
    taken = tracer.exports.numbers
    return bool(taken) and node is not None and any(id(part) in taken for part in walked(node))


def number_wanted(tracer: Tracer, rule: RuleName, values: Iterable[py.Value], node: ast.AST | None) -> None:
    """Python needs the value of what may be data, whichever of ``values`` that is."""
    for value in parts(values):
        if (isinstance(value, Traced) and _is_data(tracer, value)) or (
            isinstance(value, Number) and value.unbacked
        ):
            report(tracer, rule, node, value.origin)
            return
        if type(value) is py.Unknown and _takes_held_number(tracer, node):
            report(tracer, rule, node, source="a tensor")
            return


def array_wanted(tracer: Tracer, values: Iterable[py.Value], node: ast.AST | None) -> None:
    """NumPy is given values, of which tensors have no memory."""
    for value in parts(values):
        if isinstance(value, py.TensorValue) or (isinstance(value, Number) and value.unbacked):
            origin = value.origin if isinstance(value, (Traced, Number)) else None
            report(tracer, "outside-torch", node, origin, source="a tensor")
            return


def symbol_wanted(tracer: Tracer, rule: RuleName, value: py.Value, node: ast.AST | None) -> None:
    """Python needs the value of a number that is a symbol."""
    if isinstance(value, Number) and value.unbacked:
        report(tracer, rule, node, value.origin)


def mathematics(tracer: Tracer, name: str, args: list[py.Value], node: ast.AST) -> None:
    """A function of the math module, most of which want a float."""
    tensors = [value for value in parts(args) if isinstance(value, Traced)]
    number_wanted(tracer, "data-number/math", tensors if name in SYMBOLIC else args, node)


def extreme(tracer: Tracer, args: list[py.Value], node: ast.AST) -> None:
    """``max`` and ``min``: torch.export has its own for two tensors, and for whole numbers."""
    if len(args) == 1 and isinstance(args[0], Traced):
        report(tracer, "data-number/extreme", node, args[0].origin)
    elif any(isinstance(value, py.Const) and isinstance(value.value, float) for value in parts(args)):
        numbers = [value for value in parts(args) if isinstance(value, Number)]
        number_wanted(tracer, "data-number/extreme", numbers, node)
