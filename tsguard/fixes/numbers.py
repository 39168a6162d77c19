"""Fixes of numbers that are of another kind than an operator takes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import statement_around
from tsguard.fixes.composing import composed, safe, unsafe
from tsguard.fixes.edits import between
from tsguard.fixes.imports import is_of_torch
from tsguard.fixes.lambdas import list_map, write_out_map
from tsguard.fixes.pieces import atom, rewritten
from tsguard.fixes.places import nodes_around, nodes_at
from tsguard.fixes.variables import annotate_appended
from tsguard.language.number_orders import by_name
from tsguard.report import Fix
from tsguard.source import SourceFile

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


def convert_numbers(event: Event) -> Fix | None:
    """Elements of a list as floats or ints, and the bounds of ``torch.normal`` as floats."""
    facts = event.facts
    if facts.get("argument") == "el":
        return annotate_appended(event)
    wanted, given = facts.get("wanted", ""), facts.get("given", "")
    if "List[float]" in wanted and "int" in given:
        return _convert(event, "float")
    if "List[int]" in wanted and "Tensor" in given and given.startswith(("List", "Tuple")):
        return _convert(event, "int")
    if facts.get("function", "").endswith("normal") and (made := _normal_by_floats(event)):
        return made
    return _converted(event, wanted) if (wanted, given) in (("float", "int"), ("int", "float")) else None


def turn_round_or_write_out(event: Event) -> Fix | None:
    """``reversed(features)`` of a list becomes ``features[::-1]``; ``map`` is written out."""
    file = event.module.file
    if event.facts.get("function") != "reversed" or not event.facts.get("type", "").startswith("List["):
        return list_map(event) or write_out_map(event)
    for call in nodes_around(file, event.span.line):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "reversed" and len(call.args) == 1:
            change = rewritten(file, call, f"{atom(file, call.args[0])}[::-1]")
            return unsafe("Turn the list round", change)
    return None


def name_numbers(event: Event) -> Fix | None:
    """``x.add(2, y)`` becomes ``x.add(y, alpha=2)``, which is the same to Python."""
    file, facts = event.module.file, event.facts
    call = next(nodes_at(file, event.span, ast.Call), None)
    if call is None or any(isinstance(arg, ast.Starred) for arg in call.args):
        return None
    name = ast.unparse(call.func).rpartition(".")[2]
    given = by_name(name, call.args, is_method=facts["form"] == "method")
    if given is None:
        return None
    args = ((name, between(file, file.span(arg))) for name, arg in given)
    text = ", ".join(f"{name}={arg}" if name else arg for name, arg in args)
    return safe(
        "Pass the number by its name", rewritten(file, call, f"{between(file, file.span(call.func))}({text})")
    )


def _convert(event: Event, kind: str) -> Fix | None:
    """``scale_factor=(2, n)`` becomes ``scale_factor=(2.0, float(n))``, ``[rows // 2, 1]`` ``[int(rows // 2), 1]``.

    Unsafe: times a Tensor of integers a float makes another dtype.
    """
    file = event.module.file
    literal = _literal(event)
    edits = []
    for element in literal.elts if literal is not None else ():
        text = between(file, file.span(element))
        number = isinstance(element, ast.Constant) and type(element.value).__name__
        if kind == "float" and text.isdecimal():
            edits.append(rewritten(file, element, f"{text}.0"))
        elif number != kind:
            edits.append(rewritten(file, element, f"{kind}({text})"))
    return unsafe(f"Write the elements as {kind}s", edits)


def _literal(event: Event) -> ast.Tuple | ast.List | None:
    """The tuple or list that is given, where only one can be meant."""
    outer = statement_around(event.module.file, event.span)
    value = event.facts.get("value", "")
    # Of a long text the beginning is told.
    begins = value.removesuffix("...")
    found = [
        n
        for n in (ast.walk(outer) if outer is not None else ())
        if isinstance(n, (ast.Tuple, ast.List))
        and (text := ast.unparse(n)).startswith(begins)
        and (text == value or begins != value)
    ]
    return found[0] if len(found) == 1 else None


def _normal_by_floats(event: Event) -> Fix | None:
    """``torch.normal(0, 1, size=x.shape)`` becomes ``torch.normal(0.0, 1.0, size=x.shape)``."""
    file = event.module.file
    for call in nodes_around(file, event.span.line):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == event.facts["function"]:
            given = [*call.args[:2], *(k.value for k in call.keywords if k.arg in ("mean", "std"))]
            edits = [
                rewritten(file, n, f"{between(file, file.span(n))}.0") for n in given if _is_int(file, n)
            ]
            if edits and is_of_torch(event.module, event.facts["function"]):
                return safe("Write mean and std as floats", edits)
    return None


def _converted(event: Event, kind: str) -> Fix | None:
    """``x.uniform_(0, self.most)`` becomes ``x.uniform_(0, float(self.most))``: operators of torch make one of an int in Python.

    ``x.view(n, r**2)`` becomes ``x.view(n, int(r**2))``: in Python they take no float there, so it was an int.
    Unsafe for a function of Python, which may have been given a float.
    """
    file, value = event.module.file, event.facts["value"]
    is_operator = "operator" in event.facts
    for call in nodes_at(file, event.span, ast.Call):
        given = [*call.args, *(k.value for k in call.keywords)]
        # Of a long text the beginning is told.
        wrong = [n for n in given if ast.unparse(n) == value or _begins(n, value)]
        wrong = [n for n in wrong if is_operator or (kind == "int" and _is_power(n))]
        texts = [between(file, file.span(n)) for n in wrong]
        new = [
            f"{text}.0" if _is_int(file, n) else f"{kind}({text})"
            for n, text in zip(wrong, texts, strict=True)
        ]
        if not wrong:
            return None
        changes = [rewritten(file, n, text) for n, text in zip(wrong, new, strict=True)]
        return composed("safe" if is_operator else "unsafe", f"Write {texts[0]} as {new[0]}", changes)
    return None


def _is_power(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow)


def _begins(node: ast.expr, value: str) -> bool:
    return value.endswith("...") and ast.unparse(node).startswith(value.removesuffix("..."))


def _is_int(file: SourceFile, node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and between(file, file.span(node)).isdecimal()


class _AsFloats(ast.NodeTransformer):
    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        return ast.Constant(float(node.value)) if isinstance(node.value, int) else node


def as_floats(text: str) -> str:
    """A literal with all its numbers as floats: numbers of two types fit in no list of TorchScript."""
    return ast.unparse(_AsFloats().visit(ast.parse(text, mode="eval")))


def numbers_in(node: ast.expr) -> set[type]:
    """The types of the numbers in a literal; object where it holds anything else."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return {kind for part in node.elts for kind in numbers_in(part)}
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return numbers_in(node.operand)
    return {type(node.value)} if isinstance(node, ast.Constant) else {object}
