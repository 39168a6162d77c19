"""Annotations from the types that parameters were seen to take while eager ran."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from tsguard.fixes.annotations import annotate_parameter
from tsguard.fixes.composing import unsafe
from tsguard.fixes.lazily import cst
from tsguard.fixes.pieces import changed_header
from tsguard.fixes.places import Function, function_at
from tsguard.fixes.spelling import spelled
from tsguard.report import Edit, Fix
from tsguard.source.functions import named_parameters

if TYPE_CHECKING:
    from tsguard.project.modules import Module

_KNOWN = frozenset(
    {
        *("torch", "typing", "t", "Tensor", "int", "float", "bool", "str", "device", "dtype", "Any", "None"),
        *("Optional", "Union", "List", "Dict", "Tuple", "list", "dict", "tuple", "Final"),
    }
)


def annotations_seen(
    module: Module, line: int, name: str, types: Mapping[str, tuple[str, ...]]
) -> Iterator[Fix]:
    """A fix for each parameter without annotation that was given something else than a Tensor, or is unpacked.

    What is unpacked would be taken for a tuple else.

    Args:
        line: the function's first line, that of its first decorator if it has any.
        types: what each parameter was given, as TorchScript calls the types.
    """
    function = function_at(module.file, line, name)
    if function is None:
        return
    for parameter, seen in types.items():
        type_ = "Tensor" if seen == ("Tensor",) and _unpacks(function, parameter) else _joined(seen)
        if type_ is not None:
            fix = annotate_parameter(module, function, parameter, type_)
            if fix is not None:
                yield fix


def absent_seen(module: Module, line: int, name: str, types: Mapping[str, tuple[str, ...]]) -> Iterator[Fix]:
    """A fix for each parameter that defaults to None and was nothing else: an Optional Tensor, as torch would guess."""
    function = function_at(module.file, line, name)
    for parameter, seen in types.items() if function is not None else ():
        if seen == ("NoneType",):
            fix = annotate_parameter(module, function, parameter, "Optional[Tensor]")
            if fix is not None:
                yield fix


def retyped_seen(module: Module, line: int, name: str, types: Mapping[str, tuple[str, ...]]) -> Iterator[Fix]:
    """A fix for a function whose annotations are none that TorchScript knows: what was passed takes their place.

    A result whose annotation goes is inferred.
    """
    function = function_at(module.file, line, name)
    if function is None or function.name == "__init__":
        return
    args = named_parameters(function.args)
    imports: list[Edit] = []
    given: dict[str, str] = {}
    for arg in args:
        seen = types.get(arg.arg, ())
        if arg.annotation is None or _is_known(arg.annotation) or not seen:
            continue
        written = spelled(
            _joined(seen) or ("Tensor" if seen == ("Tensor",) else "?"), module, function.lineno
        )
        if written is None:
            return
        imports += written.edits
        given[arg.arg] = written.text
    untrue = function.returns is not None and not _is_known(function.returns)

    class Retyping(cst.CSTTransformer):
        def leave_Param(self, _: cst.Param, param: cst.Param) -> cst.Param:
            type_ = given.get(param.name.value)
            if type_ is None or param.annotation is None:
                return param
            return param.with_changes(
                annotation=param.annotation.with_changes(annotation=cst.parse_expression(type_))
            )

    def change(header: cst.FunctionDef) -> cst.FunctionDef | None:
        params = header.params.visit(Retyping())
        return header.with_changes(params=params, returns=None if untrue else header.returns)

    edit = changed_header(module.file, function, change) if given or untrue else None
    fix = unsafe(f"Annotate {name} with the types that it is given", dict.fromkeys(imports), edit)
    if fix is not None:
        yield fix


def _is_known(annotation: ast.expr) -> bool:
    """Whether an annotation is made of names that TorchScript has types for, by its looks."""
    names = {n.id for n in ast.walk(annotation) if isinstance(n, ast.Name)}
    names |= {n.attr for n in ast.walk(annotation) if isinstance(n, ast.Attribute)}
    return names <= _KNOWN


def returns_any(module: Module, line: int, name: str) -> bool:
    """Whether a function of a file is annotated to return Any."""
    function = function_at(module.file, line, name)
    return function is not None and function.returns is not None and ast.unparse(function.returns) == "Any"


def _joined(seen: tuple[str, ...]) -> str | None:
    """The one type that covers what was seen; None where there is none, or a Tensor, which needs no word."""
    kinds = [type_ for type_ in seen if type_ != "NoneType"]
    if len(kinds) != 1 or "?" in kinds[0] or "NoneType" in kinds[0]:
        return None
    if len(seen) > 1:
        return f"Optional[{kinds[0]}]"
    return kinds[0] if kinds[0] != "Tensor" else None


def _unpacks(function: Function, parameter: str) -> bool:
    """Whether a function does ``a, b = parameter``."""
    return any(
        isinstance(n, ast.Assign)
        and isinstance(n.value, ast.Name)
        and n.value.id == parameter
        and any(isinstance(t, (ast.Tuple, ast.List)) for t in n.targets)
        for n in ast.walk(function)
    )
