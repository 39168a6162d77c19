"""Calls of a module that differ from an example in one respect, and whether two results are alike.

For what asks torch apart from tsguard: nothing of tsguard is used here.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from torch import Tensor

Kind = Literal["values", "batch", "size", "alone"]
"""In what a call differs: "alone" is a size of one tensor, where others may have the same."""

_LARGEST = 600
_MOST_ELEMENTS = 3_000_000


@dataclass(frozen=True)
class Arguments:
    """The arguments of a call; ``what`` says in which respect they differ from the example."""

    args: list[Any]
    kwargs: dict[str, Any]
    what: str = "as found"
    kind: Kind = "values"
    seed: int = 3

    def changed(self, change: Callable[[Tensor], Tensor], what: str, kind: Kind) -> Arguments:
        args, kwargs = mapped((self.args, self.kwargs), change)
        return Arguments(list(args), kwargs, what, kind)

    def given_to(self, callee: Any) -> Any:
        """What the callee makes of a copy, by the same random numbers each time."""
        torch.manual_seed(self.seed)
        with torch.no_grad():
            return callee(*copy.deepcopy(self.args), **copy.deepcopy(self.kwargs))


def variants(example: Arguments) -> Iterator[Arguments]:
    """The example, and others: values, then each size, wherever it occurs and for each tensor alone."""
    yield example
    yield example.changed(_other, "other values", "values")
    yield example.changed(lambda t: -t if t.is_floating_point() else t, "negated", "values")
    yield example.changed(lambda t: torch.zeros_like(t) if t.is_floating_point() else t, "zeros", "values")
    found = list(dict.fromkeys((d, s) for t in tensors(vars(example)) for d, s in enumerate(t.shape)))
    for dim, size in sorted(found):
        for wanted in other_sizes(size):
            yield example.changed(
                lambda t, d=dim, s=size, w=wanted: resized(t, d, s, w),  # type: ignore[misc]
                f"size {size} to {wanted} in dimension {dim}",
                "size" if dim else "batch",
            )
    yield from _one_by_one(example)
    if any(t.dim() >= 4 for t in tensors(vars(example))):
        yield example.changed(
            lambda t: resized(resized(t, -1, None, 96), -2, None, 96), "larger images", "size"
        )


def further_variants(example: Arguments) -> Iterator[Arguments]:
    """What a longer search tries: other random numbers, extreme values, and sizes far from the example's."""
    for seed in range(4, 10):
        yield replace(example, what=f"random numbers from seed {seed}", seed=seed)
    for what, change in _EXTREMES.items():
        yield example.changed(change, what, "values")
    dims = sorted({(d, s) for t in tensors(vars(example)) for d, s in enumerate(t.shape)})
    for wanted in _FURTHER_SIZES:
        for dim, size in dims:
            if wanted != size:
                yield example.changed(
                    lambda t, d=dim, s=size, w=wanted: resized(t, d, s, w),  # type: ignore[misc]
                    f"size {size} to {wanted} in dimension {dim}",
                    "size" if dim else "batch",
                )
    for (dim, size), (_, other) in itertools.product(dims, dims):
        for times in (1, 2, 3):
            yield example.changed(
                lambda t, d=dim, s=size, w=other * times: resized(t, d, s, w),  # type: ignore[misc]
                f"size {size} to {other * times} in dimension {dim}",
                "size" if dim else "batch",
            )


_FURTHER_SIZES = (1, 2, 3, 4, 5, 6, 7, 9, 12, 16, 24, 32, 33, 48, 64, 100, 128, 256, 512, 1000, 2048, 5001)

_EXTREMES: dict[str, Callable[[Tensor], Tensor]] = {
    "ones": torch.ones_like,
    "nothing but zeros": torch.zeros_like,
    "nothing but -1": lambda t: torch.full_like(t, -1) if t.dtype is not torch.bool else t,
    "a hundred times as large": lambda t: t * 100 if t.is_floating_point() else t,
    "one number": lambda t: t.flatten()[:1].expand(t.numel()).reshape(t.shape).clone() if t.numel() else t,
    "not a number": lambda t: torch.full_like(t, float("nan")) if t.is_floating_point() else t,
}


def _one_by_one(example: Arguments) -> Iterator[Arguments]:
    """Each dimension of one tensor, the others as they are."""
    every = list(tensors(vars(example)))
    for number, tensor in enumerate(every) if len(every) > 1 else ():
        for dim, size in enumerate(tensor.shape):
            yield example.changed(
                lambda t, one=tensor, d=dim, s=size: resized(t, d, s, s + 1) if t is one else t,  # type: ignore[misc]
                f"size {size} to {size + 1} in dimension {dim} of tensor {number}",
                "alone",
            )


def other_sizes(size: int) -> list[int]:
    found = dict.fromkeys((size + 1, size * 2, max(size // 2, 1)))
    return [wanted for wanted in found if wanted != size and wanted <= _LARGEST]


def _other(tensor: Tensor) -> Tensor:
    torch.manual_seed(5)
    if tensor.is_floating_point():
        return torch.randn_like(tensor)
    return tensor.flip(-1) if tensor.dim() else tensor


def resized(tensor: Tensor, dim: int, size: int | None, wanted: int) -> Tensor:
    """The tensor with ``wanted`` in a dimension, if that is now ``size`` (None for any)."""
    if tensor.dim() <= max(dim, ~dim) or size not in (None, tensor.shape[dim]) or not tensor.shape[dim]:
        return tensor
    if tensor.numel() // tensor.shape[dim] * wanted > _MOST_ELEMENTS:
        return tensor
    times = -(-wanted // tensor.shape[dim])
    return torch.cat([tensor] * times, dim).narrow(dim, 0, wanted).contiguous()


def mapped(value: Any, change: Callable[[Tensor], Any], rest: Callable[[Any], Any] = lambda v: v) -> Any:
    """The tensors among values changed, and what is neither tensor nor container as ``rest`` has it."""
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, dict):
        return {key: mapped(item, change, rest) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(mapped(item, change, rest) for item in value)
    return rest(value)


def alike(left: Any, right: Any) -> bool:
    try:
        a, b = list(tensors(left)), list(tensors(right))
        torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-4, equal_nan=True)
    except (AssertionError, NotImplementedError):
        return False
    return True


def tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors(item)
    elif hasattr(value, "__dict__") and not isinstance(value, type):
        yield from tensors(vars(value))
