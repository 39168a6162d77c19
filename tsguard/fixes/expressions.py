"""Fixes of one expression: it is written in the way that TorchScript reads as Python does."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.composing import composed, safe, unsafe
from tsguard.fixes.edits import between
from tsguard.fixes.imports import is_of_torch
from tsguard.fixes.lazily import cst
from tsguard.fixes.pieces import changed_expression, rewritten
from tsguard.fixes.places import nodes_around, nodes_at
from tsguard.report import Applicability, Fix
from tsguard.source import SourceFile

if TYPE_CHECKING:
    from tsguard.analysis.events import Event

# What a plain `if` tests in TorchScript as it does in Python.
_TESTABLE = frozenset({"int", "float", "bool"})


def write_as_float(event: Event) -> Fix | None:
    """``scale_factor=2`` becomes ``scale_factor=2.0``.

    Unsafe for functions of the user's own: times a Tensor of integers, 2.0 makes another dtype.
    """
    call = next(nodes_at(event.module.file, event.span, ast.Call), None)
    node = _argument(call, event.facts["argument"], event.facts["value"]) if call is not None else None
    value, new = event.facts["value"], event.facts["float"]
    file = event.module.file
    if node is None or (isinstance(node, ast.Constant) and between(file, file.span(node)) != value):
        return None  # 0x0 is no decimal
    of_torch = is_of_torch(event.module, event.facts["function"])
    return composed("safe" if of_torch else "unsafe", f"Write {value} as {new}", rewritten(file, node, new))


def _argument(call: ast.Call, name: str, value: str) -> ast.expr | None:
    """What is given for an argument, where only one can be meant."""
    named = [keyword.value for keyword in call.keywords if keyword.arg == name]
    found = named or [arg for arg in call.args if ast.unparse(arg) == value]
    return found[0] if len(found) == 1 and ast.unparse(found[0]) == value else None


def compare_by_value(event: Event) -> Fix | None:
    """``mode is Mode.SUM`` becomes ``mode == Mode.SUM``."""
    file = event.module.file
    places = nodes_at(file, event.span, ast.expr)
    node = next((node for left in places for node in _compares(file, left)), None)
    edit = changed_expression(file, node, _by_value) if node is not None else None
    return safe(f"Compare with {event.facts['instead']}", edit)


def _compares(file: SourceFile, left: ast.expr) -> list[ast.Compare]:
    around = nodes_around(file, left.lineno)
    return [n for n in around if isinstance(n, ast.Compare) and n.left is left and len(n.ops) == 1]


def _by_value(expression: cst.BaseExpression) -> cst.CSTNode | None:
    if not isinstance(expression, cst.Comparison):
        return None
    (comparison,) = expression.comparisons
    old = comparison.operator
    if not isinstance(old, (cst.Is, cst.IsNot)):
        return None
    kind = cst.Equal if isinstance(old, cst.Is) else cst.NotEqual
    new = kind(whitespace_before=old.whitespace_before, whitespace_after=old.whitespace_after)
    return expression.with_changes(comparisons=[comparison.with_changes(operator=new)])


def choose_by_condition(event: Event) -> Fix | None:
    """``a or b`` becomes ``a if a else b``, where a is a name and both are numbers of one type.

    An attribute is asked for None: ``self.scale or 1.0`` becomes ``1.0 if self.scale is None else self.scale``.
    Unsafe: the name is looked up twice, and an attribute may be false without being None.
    """
    node = next(nodes_at(event.module.file, event.span, ast.BoolOp), None)
    if node is None or len(node.values) != 2:
        return None
    attribute = isinstance(node.op, ast.Or) and isinstance(node.values[0], ast.Attribute)
    types = event.facts["types"].split(" and ")
    numbers = len(types) == 2 and types[0] in _TESTABLE and types[0] == types[1]
    if not attribute and not (numbers and isinstance(node.values[0], ast.Name)):
        return None
    file, span = event.module.file, event.span
    start, end = file.offset(span.line, span.column), file.offset(span.end_line, span.end_column)
    alone = any(
        getattr(parent, "value", None) is node
        for parent in nodes_around(file, span.line)
        if isinstance(parent, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.keyword))
    )
    enclosed = file.text[start - 1 : start] == "(" and file.text[end : end + 1] == ")"
    edit = changed_expression(file, node, lambda e: _conditional(e, parenthesized=not (alone or enclosed)))
    return unsafe("Write a conditional expression", edit)


def _conditional(expression: cst.BaseExpression, parenthesized: bool) -> cst.CSTNode | None:
    if not isinstance(expression, cst.BooleanOperation):
        return None
    first, second = expression.left, expression.right
    if isinstance(second, cst.Lambda | cst.IfExp):
        return None
    around = ([cst.LeftParen()], [cst.RightParen()]) if parenthesized else ([], [])
    if isinstance(first, cst.Attribute):
        none = cst.ComparisonTarget(cst.Is(), cst.Name("None"))
        test = cst.Comparison(first, [none])
        return cst.IfExp(body=second, test=test, orelse=first, lpar=around[0], rpar=around[1])
    chosen, otherwise = (first, second) if isinstance(expression.operator, cst.Or) else (second, first)
    return cst.IfExp(body=chosen, test=first, orelse=otherwise, lpar=around[0], rpar=around[1])


def test_for_none(event: Event) -> Fix | None:
    """``if mask:`` becomes ``if mask is not None:``, of a number ``if n is not None and n != 0:``.

    Unsafe of a Tensor: what is false without being None takes the other branch then.
    """
    file, type_ = event.module.file, event.facts["type"].removeprefix("Optional[").removesuffix("]")
    node = next(nodes_at(file, event.span, ast.expr), None)
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return None
    around = nodes_around(file, event.span.line)
    parents = {id(child): parent for parent in around for child in ast.iter_child_nodes(parent)}
    parent = parents.get(id(node))
    negated = isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
    whole = parent if negated and isinstance(parent, ast.expr) else node
    if not is_condition(whole, parents):
        return None
    text = between(file, file.span(node))
    empty = _emptiness(text, type_)
    if negated:
        new = f"{text} is None or {empty[1]}" if empty else f"{text} is None"
    else:
        new = f"{text} is not None and {empty[0]}" if empty else f"{text} is not None"
    if empty and isinstance(parents.get(id(whole)), (ast.BoolOp, ast.UnaryOp)):
        new = f"({new})"
    tested = cst.parse_expression(new)
    kind: Applicability = "safe" if empty else "unsafe"
    return composed(kind, "Test for None", changed_expression(file, whole, lambda _: tested))


def _emptiness(text: str, type_: str) -> tuple[str, str] | None:
    """How it is asked whether a number, a text or a container is true, and whether it is not; None for the rest."""
    if type_ in ("int", "float"):
        return f"{text} != 0", f"{text} == 0"
    if type_ == "bool":
        return text, f"not {text}"
    if type_ == "str" or type_.startswith(("List[", "Dict[", "Tuple[")):
        return f"len({text}) > 0", f"len({text}) == 0"
    return None


def is_condition(node: ast.AST, parents: dict[int, ast.AST]) -> bool:
    """Whether only the truth of an expression counts, not its value."""
    parent = parents.get(id(node))
    if isinstance(parent, ast.BoolOp):
        return is_condition(parent, parents)
    if isinstance(parent, ast.UnaryOp):
        return isinstance(parent.op, ast.Not)
    return getattr(parent, "test", None) is node
