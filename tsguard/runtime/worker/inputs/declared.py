"""The types that ``forward`` declares, by annotations or type comments, and whether a guess is of them."""

from __future__ import annotations

import ast
import inspect
import textwrap
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from tsguard.runtime.worker.guarding import value_or
from tsguard.runtime.worker.inputs.specs import DictSpec, MadeSpec, SequenceSpec, Spec, TensorSpec, Verbatim


def declared_types(function: Callable[..., Any]) -> Mapping[str, Any]:
    """The type of each parameter that declares one; a type comment counts as torch counts it."""
    written = getattr(function, "__annotations__", {})
    hints: Mapping[str, Any] = value_or(written, lambda: typing.get_type_hints(function))
    return hints or value_or({}, lambda: _commented(function))


def _commented(function: Callable[..., Any]) -> dict[str, Any]:
    """The types of ``# type: (List[Tensor], int) -> Tensor``."""
    compiler: Any = torch.jit.annotations
    line = compiler.get_type_line(textwrap.dedent(inspect.getsource(function)))
    if line is None:
        return {}
    written, _ = compiler.split_type_line(line)
    types_given = in_python(written, getattr(function, "__globals__", {}))
    names = [n for n in inspect.signature(function).parameters if n != "self"]
    given = types_given if isinstance(types_given, tuple) else (types_given,)
    return dict(zip(names, given, strict=False))


def in_python(text: str, names: Mapping[str, Any] = types.MappingProxyType({})) -> Any:
    """The type that a text means, None if it means none that is known here."""
    known = {**vars(typing), "Tensor": Tensor, "torch": torch, "nn": nn, "NoneType": type(None), **names}
    return value_or(None, lambda: eval(text.strip(), known))


def is_of(spec: Spec, declared: Any) -> bool:
    """Whether a guessed value is of a declared type; what cannot be told passes."""
    origin, inner = typing.get_origin(declared), typing.get_args(declared)
    if declared is None or declared is Any:
        return True
    if origin in (typing.Union, types.UnionType):
        return any(is_of(spec, option) for option in inner)
    if isinstance(spec, TensorSpec):
        return isinstance(declared, type) and issubclass(Tensor, declared)
    if isinstance(spec, SequenceSpec):
        return _is_sequence_of(spec, origin or declared, inner)
    if isinstance(spec, DictSpec):
        values = inner[1] if len(inner) == 2 else None
        return _is_kind(dict, origin or declared) and all(is_of(item, values) for _, item in spec.items)
    if isinstance(spec, MadeSpec):
        return isinstance(declared, type)
    return _is_literal_of(spec, origin or declared)


def _is_kind(kind: type, wanted: Any) -> bool:
    return isinstance(wanted, type) and issubclass(kind, wanted)


def _is_sequence_of(spec: SequenceSpec, wanted: Any, inner: tuple[Any, ...]) -> bool:
    if not _is_kind(tuple if spec.is_tuple else list, wanted):
        return False
    if wanted is tuple and inner and inner[-1] is not Ellipsis:
        return len(inner) == len(spec.items) and all(map(is_of, spec.items, inner))
    return all(is_of(item, inner[0] if inner else None) for item in spec.items)


def _is_literal_of(spec: Verbatim, wanted: Any) -> bool:
    try:
        value = ast.literal_eval(spec.text)
    except (ValueError, SyntaxError):
        return True
    if isinstance(value, int) and not isinstance(value, bool) and wanted is float:
        return True
    if isinstance(value, bool) and wanted is not bool:
        return False
    return isinstance(value, wanted) if isinstance(wanted, type) else True
