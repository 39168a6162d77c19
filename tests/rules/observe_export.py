"""The experiment on export pages: export a target, with static shapes and with open ones, and hold it against eager."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch

from tests.rules.observe_trace import Make, compiled


def observe(module: ModuleType, name: str) -> dict[str, Any]:
    """Export the target for the example's sizes; ``open`` has those left open in which other inputs differ.

    See ``compiled`` for what is told of each.
    """
    return {**compiled(module, name, _static), "open": compiled(module, name, _open)}


def warm_up() -> None:
    """The first export imports the compiler."""
    torch.export.export(torch.nn.Identity(), (torch.ones(2),)).module()


def _static(target: Callable[..., Any], make: Make) -> Callable[..., Any]:
    whole = target if isinstance(target, torch.nn.Module) else _Wrapped(target)
    exported: Callable[..., Any] = torch.export.export(whole, make["example_inputs"]()).module()
    return exported


def _open(target: Callable[..., Any], make: Make) -> Callable[..., Any]:
    given = make["example_inputs"]()
    others = make.get("other_inputs", make["example_inputs"])()
    whole = target if isinstance(target, torch.nn.Module) else _Wrapped(target)
    shapes = {"inputs": _open_sizes(given, others)} if whole is not target else _open_sizes(given, others)
    exported: Callable[..., Any] = torch.export.export(whole, given, dynamic_shapes=shapes).module()
    return exported


class _Wrapped(torch.nn.Module):
    """A function as the module that torch.export wants."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Any) -> Any:
        return self.function(*inputs)


def _open_sizes(one: Any, other: Any) -> Any:
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        if one.dim() != other.dim():
            return None
        sizes = enumerate(zip(one.shape, other.shape, strict=True))
        return {i: torch.export.Dim.AUTO for i, (a, b) in sizes if a != b} or None
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        padded = [*other, *one[len(other) :]]
        sizes_of_items = [_open_sizes(a, b) for a, b in zip(one, padded, strict=False)]
        return type(one)(*sizes_of_items) if hasattr(one, "_fields") else type(one)(sizes_of_items)
    if isinstance(one, dict):
        return {key: _open_sizes(value, other.get(key)) for key, value in one.items()}
    return None
