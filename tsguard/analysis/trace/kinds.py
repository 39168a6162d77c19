"""The kind of an input without an annotation, inferred from its uses: a number for sizes, a function, an object.

A tensor without dimensions may stand for a size, too; who calls a parameter ``H`` and views ``x`` by it
means the number that ``x.shape`` gives outside of a trace.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tsguard.analysis import values as py
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.values import Number, Traced, parts
from tsguard.language.rule_names import RuleName
from tsguard.source.functions import FunctionNode
from tsguard.source.remembering import remembered
from tsguard.source.walking import walked

_NUMBER: RuleName = "untraceable-input/scalar"
_OBJECT: RuleName = "untraceable-input/object"
_ARITHMETIC = (ast.BinOp, ast.UnaryOp, ast.Name)


def used_as_sizes(tracer: Tracer, values: Iterable[py.Value]) -> None:
    """Note the inputs that an operation takes for sizes, as they are or after some arithmetic."""
    if not tracer.untold:
        return
    for value in parts(values):
        if isinstance(value, (Traced, Number)):
            name = _calculated_from(value)
            if name in tracer.untold:
                tracer.told.setdefault(name, _NUMBER)


def used_as_object(tracer: Tracer, value: Traced) -> None:
    """Note an input that is called, or asked for what no tensor has."""
    if value.origin.parent is None and value.origin.name in tracer.untold:
        tracer.told.setdefault(value.origin.name, _OBJECT)


def _calculated_from(value: Traced | Number) -> str:
    """The input that a value is, or is a sum or product of; "" where more has happened to it."""
    origin = value.origin
    while origin.parent is not None:
        if not isinstance(origin.node, _ARITHMETIC) and not _rounds(origin.node):
            return ""
        origin = origin.parent
    return origin.name if isinstance(value, Number) or value.of == "inputs" else ""


def _rounds(node: ast.AST | None) -> bool:
    """Whether a call makes a whole number of another: ``math.ceil(n)``, ``np.floor(n)``, ``int(n / 2)``.

    ``int(n)`` makes one of a tensor: of an int nobody writes it.
    """
    if not isinstance(node, ast.Call) or len(node.args) != 1:
        return False
    if getattr(node.func, "attr", "") in ("ceil", "floor"):
        return True
    return getattr(node.func, "id", "") in ("int", "round") and not isinstance(node.args[0], ast.Name)


def read_ahead(tracer: Tracer, function: py.FunctionValue, args: list[py.Value]) -> None:
    """Note the inputs that a function takes for sizes on ways, too, that this call of it does not go."""
    if not tracer.untold:
        return
    spec = function.node.args
    for parameter, value in zip([*spec.posonlyargs, *spec.args], args, strict=False):
        is_input = isinstance(value, Traced) and value.origin.parent is None
        if is_input and parameter.arg in _named_as_sizes(function.node):
            used_as_sizes(tracer, [value])


@remembered(4096)
def _named_as_sizes(node: FunctionNode) -> frozenset[str]:
    """The names that are sizes among others of a view, and nothing else than numbers anywhere."""
    sizes: set[str] = set()
    others: set[str] = set()
    for part in walked(node):
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and len(part.args) > 1:
            if part.func.attr in ("view", "reshape", "expand"):
                sizes.update(arg.id for arg in part.args if isinstance(arg, ast.Name))
        elif isinstance(part, (ast.Attribute, ast.Subscript)) and isinstance(part.value, ast.Name):
            others.add(part.value.id)
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            others.add(part.id)
    return frozenset(sizes - others)


def numbers(tracer: Tracer, function: py.FunctionValue) -> frozenset[str]:
    """The inputs without an annotation that are used as numbers, and of which the function asks nothing that tensors have."""
    asked = {
        part.value.id
        for part in walked(function.node)
        if isinstance(part, (ast.Attribute, ast.Subscript)) and isinstance(part.value, ast.Name)
    }
    return frozenset(name for name, rule in tracer.told.items() if rule == _NUMBER) - asked


def report(tracer: Tracer) -> None:
    """Report the inputs that cannot be tensors."""
    for name, rule in tracer.told.items():
        tracer.report(rule, tracer.untold[name], name=name)
