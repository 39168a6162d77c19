"""What Python would say of the arguments that a target is made with."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.python import Interpreter, PythonInterpreter, ancestry, classes, metaclasses
from tsguard.analysis.python.context import Raised
from tsguard.analysis.subjects import definition
from tsguard.report.likely import nearest
from tsguard.report.records import dataclass
from tsguard.source.functions import positional_parameters

if TYPE_CHECKING:
    from tsguard.analysis.python import Program
    from tsguard.project import Target


@dataclass(frozen=True, slots=True)
class _Signature:
    """Parameters by name, with whether each must be given; ``positional`` counts those that may go by position."""

    required: dict[str, bool]
    positional: int
    takes_more: bool = False
    takes_any_name: bool = False


def wrong_arguments(program: Program, target: Target) -> str | None:
    """What is wrong with the arguments of a target, naming the parameters; None if that cannot be told.

    Source of the rules: the Python Language Reference, Calls.
    """
    call = target.call
    if call is None or any(isinstance(a, ast.Starred) for a in call.args) or None in _given(call):
        return None
    try:
        signature = _signature(PythonInterpreter(program), target)
    except Raised:
        return None  # that defining it raises is said where it is judged
    problem = _problem(signature, call) if signature is not None else None
    if signature is None or problem is None:
        return None
    takes = ", ".join(signature.required) or "nothing"
    return f"{target.qualname}() {problem}; it takes {takes}"


def _given(call: ast.Call) -> list[str | None]:
    return [keyword.arg for keyword in call.keywords]


def _problem(signature: _Signature, call: ast.Call) -> str | None:
    given = [name for name in _given(call) if name is not None]
    by_position = list(signature.required)[: signature.positional][: len(call.args)]
    if len(call.args) > signature.positional and not signature.takes_more:
        return f"takes {_count(signature.positional, 'positional argument')} but {len(call.args)} {'was' if len(call.args) == 1 else 'were'} given"
    for name in given:
        if name in by_position:
            return f"got multiple values for argument {name!r}"
        if name not in signature.required and not signature.takes_any_name:
            near = nearest(name, signature.required)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            return f"got an unexpected keyword argument {name!r}{hint}"
    missing = [
        name
        for name, must in signature.required.items()
        if must and name not in given and name not in by_position
    ]
    if missing:
        return f"is missing {_count(len(missing), 'required argument')}: {', '.join(map(repr, missing))}"
    return None


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _signature(interp: Interpreter, target: Target) -> _Signature | None:
    value = definition(interp, target)
    if isinstance(value, py.FunctionValue):
        return _of_function(value, 0) if not getattr(value.node, "decorator_list", None) else None
    if not isinstance(value, py.ClassValue) or metaclasses.maker(interp, value) is not None:
        return None
    if ancestry.has_unknown_base(interp, value) or classes.class_member(interp, value, "__new__") is not None:
        return None
    for base in ancestry.mro(interp, value):
        if isinstance(base, py.ClassValue) and "__init__" in base.members:
            found = base.members["__init__"]
            is_plain = isinstance(found, py.FunctionValue) and not found.marks and found.wrapped is None
            return _of_function(found, 1) if is_plain and isinstance(found, py.FunctionValue) else None
        if isinstance(base, py.ClassValue) and base.marks:
            return None  # a decorator may give it a constructor
        if isinstance(base, py.External):
            return _of_library(interp, base)
    return None


def _of_function(function: py.FunctionValue, skipped: int) -> _Signature | None:
    if isinstance(function.node, ast.Lambda):
        return None
    spec = function.node.args
    positional = positional_parameters(function.node)[skipped:]
    named = zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
    required = {parameter.arg: default is None for parameter, default in (*positional, *named)}
    return _Signature(required, len(positional), spec.vararg is not None, spec.kwarg is not None)


def _of_library(interp: Interpreter, base: py.External) -> _Signature | None:
    if base.name == "torch.nn.Module":
        return _Signature({}, 0)
    entry = interp.tables.modules.get(base.name)
    if entry is None or any(name in ("args", "kwargs") for name, _ in entry["init"]):
        return None
    return _Signature({name: default is None for name, default in entry["init"]}, len(entry["init"]), False)
