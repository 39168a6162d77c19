"""What calls in a file pass for the parameters of its functions, as far as they write it out."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsguard.fixes.definitions_elsewhere import called
from tsguard.fixes.places import Function, functions_around, nodes_at
from tsguard.report.records import replace
from tsguard.source.functions import named_parameters, positional_parameters
from tsguard.source.remembering import remembered
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.events import Event
    from tsguard.project.modules import Module

_LITERALS = (ast.Constant, ast.UnaryOp)

# A number of either kind.
NUMBER = "number"


def told_by_all_calls(event: Event) -> Event:
    """The event, where it tells to annotate an int that another call gives a float for: both are of one parameter."""
    if event.facts.get("annotation") != "int":
        return event
    if event.rule == "untyped-default":
        name = event.facts["parameter"]
        around = functions_around(event.module.file, event.span)
        module, function = event.module, next((f for f in around if _has(f, name)), None)
    elif event.rule == "argument-type/inferred":
        name = event.facts["argument"]
        call = next(nodes_at(event.module.file, event.span, ast.Call), None)
        found = called(event.module, event.span, call.func) if call is not None else None
        module, function = found if found is not None else (event.module, None)
    else:
        return event
    if function is None:
        return event
    for call, value in literals_given(module, function, name):
        if displayed(value) == "float":
            return replace(event, facts={**event.facts, "annotation": "float", "place": ast.unparse(call)})
    return event


def _has(function: Function, name: str) -> bool:
    return any(parameter.arg == name for parameter in named_parameters(function.args))


def parameter_at(function: Function, place: int | str) -> ast.arg | None:
    parameters = [parameter for parameter, _ in positional_parameters(function)]
    if isinstance(place, str):
        return next((p for p in named_parameters(function.args) if p.arg == place), None)
    place += bool(parameters) and parameters[0].arg == "self"
    return parameters[place] if place < len(parameters) else None


def literals_given(module: Module, function: Function, name: str) -> Iterator[tuple[ast.Call, ast.expr]]:
    """The calls in a file that pass a literal for a parameter of a function in it, with the literal."""
    for call, place, value in _literals(module).get(function, ()):
        parameter = parameter_at(function, place)
        if parameter is not None and parameter.arg == name:
            yield call, value


@remembered(2)  # asked for each finding of a file in turn
def _literals(module: Module) -> dict[Function, list[tuple[ast.Call, int | str, ast.expr]]]:
    """The literals that the calls in a file write out, by the function that runs, with their places."""
    given: dict[Function, list[tuple[ast.Call, int | str, ast.expr]]] = {}
    for call in walked(module.file.tree):
        if not isinstance(call, ast.Call):
            continue
        values: list[tuple[int | str, ast.expr]] = list(enumerate(call.args))
        values += [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg is not None]
        literals = [(place, value) for place, value in values if isinstance(value, _LITERALS)]
        found = called(module, module.file.span(call), call.func) if literals else None
        if found is not None:
            given.setdefault(found[1], []).extend((call, place, value) for place, value in literals)
    return given


def displayed(value: ast.expr) -> str | None:
    """The type of a display of Tensors, or of a literal."""
    if isinstance(value, (ast.List, ast.ListComp)):
        return "List[Tensor]"
    if isinstance(value, ast.Tuple) and not any(
        isinstance(e, (ast.Starred, ast.Constant)) for e in value.elts
    ):
        return f"Tuple[{', '.join(['Tensor'] * len(value.elts))}]"
    if isinstance(value, ast.Constant) and type(value.value) in (int, float, bool, str):
        return type(value.value).__name__
    return _number(value)


def _number(value: ast.expr) -> str | None:
    """The type of what is computed of sizes: one itself is an int, what is divided or the root of it a float."""
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        return displayed(value.operand)
    if isinstance(value, ast.Call):
        return _called_number(value)
    if isinstance(value, ast.Subscript):
        is_size = isinstance(value.value, ast.Attribute) and value.value.attr == "shape"
        return "int" if is_size and not isinstance(value.slice, ast.Slice) else None
    if not isinstance(value, ast.BinOp):
        return None
    left, right = displayed(value.left), displayed(value.right)
    if NUMBER in (left, right):
        return NUMBER
    if left not in ("int", "float"):
        return None
    if isinstance(value.op, ast.Pow):
        return "float" if isinstance(value.right, ast.UnaryOp) or right == "float" else None
    if right not in ("int", "float"):
        return None
    return "float" if isinstance(value.op, ast.Div) or "float" in (left, right) else "int"


def _called_number(call: ast.Call) -> str | None:
    word = ast.unparse(call.func).rpartition(".")[2]
    if isinstance(call.func, ast.Name) and word in ("int", "float", "bool", "str"):
        return word
    if word == "item":
        return NUMBER
    return "int" if call.args and word in ("size", "len") else "float" if word == "sqrt" else None
