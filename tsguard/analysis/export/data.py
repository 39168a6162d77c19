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

_CONDITION_OF: dict[str, RuleName] = {
    "inputs": "data-condition",
    "state": "data-condition/state",
    "random": "data-condition/random",
}
# Functions of math that know symbols.
_SYMBOLIC = frozenset({"floor", "ceil", "trunc", "prod"})


def asked(tracer: Tracer, value: py.Value, node: ast.AST | None) -> None:
    """A value is asked whether it is true."""
    if isinstance(value, Traced):
        report(tracer, _CONDITION_OF[value.of], node, value.origin)
    elif isinstance(tracer.statement, ast.Assert):
        return  # of symbols, it is kept as a check at run time
    elif isinstance(value, Number) and value.unbacked:
        rule: RuleName = "data-condition/size" if value.kind == "size" else "data-condition/number"
        report(tracer, rule, node, value.origin)
    elif not isinstance(value, Number) and _takes_held_number(tracer, node):
        report(tracer, "data-condition/held", node)


def _takes_held_number(tracer: Tracer, node: ast.AST | None) -> bool:
    """Whether a condition holds a call that took a number out of a parameter or buffer."""
    taken = tracer.exports.numbers
    return bool(taken) and node is not None and any(id(part) in taken for part in walked(node))


def number_wanted(tracer: Tracer, rule: RuleName, values: Iterable[py.Value], node: ast.AST | None) -> None:
    """Python needs the value of what may be data, whichever of ``values`` that is."""
    for value in parts(values):
        if isinstance(value, Traced) or (isinstance(value, Number) and value.unbacked):
            report(tracer, rule, node, value.origin)
            return


def symbol_wanted(tracer: Tracer, rule: RuleName, value: py.Value, node: ast.AST | None) -> None:
    """Python needs the value of a number that is a symbol."""
    if isinstance(value, Number) and value.unbacked:
        report(tracer, rule, node, value.origin)


def mathematics(tracer: Tracer, name: str, args: list[py.Value], node: ast.AST) -> None:
    """A function of the math module, most of which want a float."""
    tensors = [value for value in parts(args) if isinstance(value, Traced)]
    number_wanted(tracer, "data-number/math", tensors if name in _SYMBOLIC else args, node)


def extreme(tracer: Tracer, args: list[py.Value], node: ast.AST) -> None:
    """``max`` and ``min``: torch.export has its own for two tensors, and for whole numbers."""
    if len(args) == 1 and isinstance(args[0], Traced):
        report(tracer, "data-number/extreme", node, args[0].origin)
    elif any(isinstance(value, py.Const) and isinstance(value.value, float) for value in parts(args)):
        numbers = [value for value in parts(args) if isinstance(value, Number)]
        number_wanted(tracer, "data-number/extreme", numbers, node)
