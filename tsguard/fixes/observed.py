"""Annotations from the types that parameters were seen to take while eager ran."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from tsguard.fixes.annotations import annotate_parameter
from tsguard.fixes.places import Function, function_at
from tsguard.report import Fix

if TYPE_CHECKING:
    from tsguard.project.modules import Module


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
