"""Nested values as models take and return them: tensors inside lists, tuples, dicts, dataclasses."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from tsguard.runtime.budgets import DEEPEST_VALUE
from tsguard.runtime.worker.guarding import value_or


def leaves(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Every value that is no container, with the path that leads to it."""
    if depth > DEEPEST_VALUE:
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, f"{path}[{key!r}]", depth + 1)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from leaves(item, f"{path}[{index}]", depth + 1)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from leaves(getattr(value, field.name, None), f"{path}.{field.name}", depth + 1)
    elif isinstance(value, SimpleNamespace):
        for name, item in vars(value).items():
            yield from leaves(item, f"{path}.{name}", depth + 1)
    else:
        yield path, value


def tensors(value: Any) -> list[Tensor]:
    """The tensors in a nested value, in order."""
    return [leaf for _, leaf in leaves(value) if isinstance(leaf, Tensor)]


def floating(value: Any) -> list[Tensor]:
    """The tensors in a nested value through which gradients can flow."""
    return [t for t in tensors(value) if t.is_floating_point() or t.is_complex()]


def mapped(value: Any, change: Callable[[Tensor], Any]) -> Any:
    """The same structure with every tensor changed; other leaves are shared."""
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, dict):
        changed = {key: mapped(item, change) for key, item in value.items()}
        return changed if type(value) is dict else _rebuilt(value, changed)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(mapped(item, change) for item in value))
    if isinstance(value, (list, tuple)):
        items = [mapped(item, change) for item in value]
        return items if type(value) is list else _rebuilt(value, items)
    if isinstance(value, SimpleNamespace):
        return SimpleNamespace(**{name: mapped(item, change) for name, item in vars(value).items()})
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fresh = copy.copy(value)
        for field in dataclasses.fields(value):
            object.__setattr__(fresh, field.name, mapped(getattr(value, field.name), change))
        return fresh
    return value


def _rebuilt(original: Any, items: Any) -> Any:
    return value_or(items, lambda: type(original)(items))


def cloned(value: Any) -> Any:
    """A copy that shares no memory: what is done to it does not reach ``value``."""
    return mapped(value, lambda t: t.detach().clone().requires_grad_(t.requires_grad))


def moved(value: Any, device: str, dtype: torch.dtype | None = None) -> Any:
    """The value on a device, its floating tensors in ``dtype`` where one is given."""
    return mapped(value, lambda t: t.to(device, dtype if t.is_floating_point() else None))


def same_bits(a: Any, b: Any) -> bool:
    """Whether two nested values are equal to the last bit, NaN equal to NaN."""
    left, right = list(leaves(a)), list(leaves(b))
    return len(left) == len(right) and all(
        _same_leaf(x, y) for (_, x), (_, y) in zip(left, right, strict=True)
    )


def _same_leaf(a: Any, b: Any) -> bool:
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        if a.shape != b.shape or a.dtype != b.dtype or a.layout != b.layout:
            return False
        if a.is_sparse:
            a, b = a.to_dense(), b.to_dense()
        return torch.equal(a, b) or bool(torch.allclose(a, b, 0, 0, equal_nan=True))
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        return False
    return value_or(a is b, lambda: bool(a == b))
