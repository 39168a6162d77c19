"""Whether two results of a target are the same: values, types, dtypes and gradients.

Imports torch: only experiments use it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch

Inputs = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """What a call returned, or the error that it raised."""

    value: Any = None
    error: str | None = None


def built(module: ModuleType, name: str) -> Callable[..., Any]:
    """A new target, with the same random parameters each time."""
    target = getattr(module, name)
    torch.manual_seed(0)
    is_module = isinstance(target, type) and issubclass(target, torch.nn.Module)
    arguments = getattr(module, "constructor_arguments", tuple)
    return target(*arguments()) if is_module else target


def inputs(module: ModuleType) -> dict[str, Callable[[], Inputs]]:
    """The example's functions that make inputs."""
    return {
        name: getattr(module, name) for name in ("example_inputs", "other_inputs") if hasattr(module, name)
    }


def called(function: Callable[..., Any], make: Callable[[], Inputs]) -> Result:
    """Call with newly made inputs, after seeding."""
    torch.manual_seed(0)
    try:
        return Result(function(*make()))
    except Exception as error:
        return Result(error=str(error) or type(error).__name__)


def same(one: Any, other: Any) -> bool:
    """Equality of results; a script's named tuple equals eager's with the same items."""
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return (
            one.dtype == other.dtype
            and one.shape == other.shape
            and one.requires_grad == other.requires_grad
            and torch.allclose(one, other, equal_nan=True)
        )
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if type(one) is not type(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if dataclasses.is_dataclass(one):
        return all(same(getattr(one, f.name), getattr(other, f.name)) for f in dataclasses.fields(one))
    return bool(one == other)
