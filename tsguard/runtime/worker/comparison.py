"""Whether an attempt's results are eager's: to the last bit, else as close as arithmetic allows.

Scripting and tracing are bitwise equal on CPU; freezing, other fusions and compiling
reorder sums. For those a copy in float64 tells how wrong eager itself is, and an attempt
may be a few times worse, not more: fixed tolerances cry wolf in half precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from tsguard.runtime.budgets import WORSE
from tsguard.runtime.worker.guarding import value_or
from tsguard.runtime.worker.values import floating, leaves, same_bits

_TOLERANCES = {torch.float16: 1e-2, torch.bfloat16: 5e-2, torch.float32: 1e-4, torch.float64: 1e-6}


@dataclass(frozen=True, slots=True)
class Comparison:
    """``max_error`` is the largest difference relative to the largest value."""

    equal: bool
    max_error: float | None = None
    note: str | None = None


def compare(expected: Any, actual: Any, reference: Callable[[], Any]) -> Comparison:
    """Compare nested outputs; ``reference`` gives the float64 ones, or None."""
    if same_bits(expected, actual):
        return Comparison(True, 0.0)
    left, right = list(leaves(expected)), list(leaves(actual))
    if len(left) != len(right):
        return Comparison(False, None, f"{len(right)} outputs where eager has {len(left)}")
    exact = _exact_leaves(reference, len(left))
    worst = 0.0
    for (path, a), (_, b), precise in zip(left, right, exact, strict=True):
        result = _compare_leaf(a, b, precise, None)
        worst = max(worst, result.max_error or 0.0)
        if not result.equal:
            return Comparison(False, result.max_error, f"output{path} {result.note}")
    return Comparison(True, worst)


def _exact_leaves(reference: Callable[[], Any], count: int) -> list[Any]:
    exact = value_or([], lambda: [value for _, value in leaves(reference())])
    return exact if len(exact) == count else [None] * count


def compare_gradients(
    expected: Mapping[str, Tensor],
    actual: Mapping[str, Tensor],
    reference: Callable[[], Any],
    outputs: Any = None,
) -> Comparison:
    """Compare by parameter; errors count relative to the largest gradient of all.

    Args:
        outputs: what the gradients are of. Where all of these cancel out, what is left is the rounding of terms
            as large as them, and may be any.
    """
    if expected.keys() != actual.keys():
        missing = sorted(expected.keys() ^ actual.keys())
        return Comparison(False, None, f"only one side has a gradient for {missing[0]}")
    if same_bits(dict(expected), dict(actual)):
        return Comparison(True, 0.0)
    exact: Mapping[str, Tensor] = value_or({}, reference)
    scale = max((_largest(g) for g in expected.values()), default=0.0)
    rounding = max((_largest(t) * torch.finfo(t.dtype).eps for t in floating(outputs)), default=0.0)
    worst = 0.0
    for name, gradient in expected.items():
        both = max(_largest(gradient), _largest(actual[name]))
        if gradient.shape == actual[name].shape and both <= WORSE * rounding:
            continue
        result = _compare_leaf(gradient, actual[name], exact.get(name), scale)
        worst = max(worst, result.max_error or 0.0)
        if not result.equal:
            return Comparison(False, result.max_error, f"the gradient of {name} {result.note}")
    return Comparison(True, worst)


def _compare_leaf(expected: Any, actual: Any, exact: Any, scale: float | None) -> Comparison:
    if not isinstance(expected, Tensor) or not isinstance(actual, Tensor):
        if same_bits(_number(expected), _number(actual)):
            return Comparison(True, 0.0)
        return Comparison(False, None, f"is {_short(actual)} where eager has {_short(expected)}")
    if expected.shape != actual.shape:
        return Comparison(
            False, None, f"has shape {tuple(actual.shape)} where eager has {tuple(expected.shape)}"
        )
    if expected.dtype != actual.dtype:
        return Comparison(False, None, f"has {actual.dtype} where eager has {expected.dtype}")
    if same_bits(expected, actual):
        return Comparison(True, 0.0)
    if not (expected.is_floating_point() or expected.is_complex()):
        different = int((expected != actual).sum())
        return Comparison(False, None, f"differs in {different} of {expected.numel()} values")
    if not torch.equal(torch.isfinite(expected), torch.isfinite(actual)):
        return Comparison(False, math.inf, "is not finite in other places than eager's")
    return _compare_floats(expected, actual, exact, scale)


def _number(value: Any) -> Any:
    """A zero-dimensional tensor as a number: that is how a trace returns sizes."""
    return value.item() if isinstance(value, Tensor) and value.dim() == 0 else value


def _compare_floats(expected: Tensor, actual: Tensor, exact: Any, scale: float | None) -> Comparison:
    scale = max(_largest(expected) if scale is None else scale, 1e-30)
    error = _distance(expected, actual)
    epsilon = torch.finfo(expected.dtype).eps
    if isinstance(exact, Tensor) and exact.shape == expected.shape:
        allowed = WORSE * _distance(expected, exact) + WORSE * epsilon * scale
        if expected.dtype == torch.float64:
            allowed = max(allowed, _TOLERANCES[torch.float64] * scale)
        within = _distance(actual, exact) <= allowed
    else:
        within = error <= _TOLERANCES.get(expected.dtype, 1e-4) * scale
    relative = error / scale
    return Comparison(within, relative, None if within else f"differs by {relative:.1e} of its largest value")


def _finite(tensor: Tensor) -> Tensor:
    wide = tensor.detach().to(torch.complex128 if tensor.is_complex() else torch.float64)
    return torch.nan_to_num(wide.abs() if tensor.is_complex() else wide, 0.0, 0.0, 0.0)


def _largest(tensor: Tensor) -> float:
    return float(_finite(tensor).abs().max()) if tensor.numel() else 0.0


def _distance(a: Tensor, b: Tensor) -> float:
    if not a.numel():
        return 0.0
    wide = torch.complex128 if a.is_complex() else torch.float64
    return _largest(a.detach().to(wide) - b.detach().to(wide))


def _short(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
