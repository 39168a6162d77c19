"""Other inputs for the same call: other values, other sizes, extremes.

A trace agrees with eager on what it was traced with; what it froze shows on inputs
that differ in one respect. Each variant differs in one, and says in which.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from tsguard.runtime.worker.running import Call
from tsguard.runtime.worker.values import mapped, tensors


@dataclass(frozen=True, slots=True)
class InputVariant:
    """``essential`` ones are tried even where time is short; ``before`` is called first, if given."""

    name: str
    call: Call
    note: str | None = None
    essential: bool = False
    before: Call | None = None


def variants(call: Call) -> Iterator[InputVariant]:
    """Variants of a call, the most telling first; eager need not accept them."""
    changed = _changed(call, _other_values)
    yield InputVariant("other values", changed, None, True)
    yield from _other_sizes(call)
    # Counters and caches: what the first call left behind meets other values.
    yield InputVariant("a second call", changed, before=call)
    yield InputVariant("negated values", _changed(call, _negated))
    yield InputVariant("large values", _changed(call, lambda t: t * 1000 if t.is_floating_point() else t))
    yield InputVariant("zeros", _changed(call, lambda t: torch.zeros_like(t) if t.is_floating_point() else t))
    empty = _resized(call, 0, 0)
    if empty is not None:
        yield InputVariant("empty batch", empty, _sizes(call, empty))


def _changed(call: Call, change: Any) -> Call:
    return replace(call, args=mapped(call.args, change), kwargs=mapped(call.kwargs, change))


def _other_values(tensor: Tensor) -> Tensor:
    generator = torch.Generator().manual_seed(7)
    if tensor.is_floating_point():
        fresh = torch.randn(tensor.shape, generator=generator, dtype=torch.float32)
        low, high = (float(v) for v in tensor.detach().float().aminmax()) if tensor.numel() else (0.0, 0.0)
        if low >= 0 and high <= 1:
            fresh = torch.rand(tensor.shape, generator=generator)
        return fresh.to(tensor.device, tensor.dtype).requires_grad_(tensor.requires_grad)
    if tensor.is_complex() or not tensor.numel():
        return tensor * 2
    flat = tensor.detach().reshape(-1)
    order = torch.randperm(flat.numel(), generator=generator).to(tensor.device)
    shuffled = flat[order].view(tensor.shape)
    if tensor.dtype != torch.bool and not torch.equal(shuffled, tensor):
        return shuffled
    return ~tensor if tensor.dtype == torch.bool else torch.full_like(tensor, int(flat.min()))


def _negated(tensor: Tensor) -> Tensor:
    return -tensor if tensor.is_floating_point() or tensor.is_complex() else tensor


def _other_sizes(call: Call) -> Iterator[InputVariant]:
    found = tensors((call.args, call.kwargs))
    deepest = max((t.dim() for t in found), default=0)
    if deepest == 0:
        return
    changes = [("other batch size", 0, 1, True)]
    if deepest >= 4:
        changes += [("other size", dim, 32, dim == 2) for dim in range(2, deepest)]
    elif deepest >= 2:
        changes += [("other length", 1, 1, True)]
        if deepest == 3:
            changes += [("other last size", 2, 1, False)]
    for name, dim, step, essential in changes:
        resized = _resized(call, dim, step)
        if resized is not None:
            yield InputVariant(name, resized, _sizes(call, resized), essential)
    if deepest >= 4:
        both = _resized(call, 2, 32)
        both = _resized(both, 3, 32) if both is not None else None
        if both is not None:
            yield InputVariant("other size", both, _sizes(call, both), True)


def _resized(call: Call, dim: int, step: int) -> Call | None:
    """All tensors that share the first one's size in ``dim``, longer by ``step`` (0: empty)."""
    sized = [t for t in tensors((call.args, call.kwargs)) if t.dim() > dim]
    if not sized:
        return None
    size = sized[0].shape[dim]

    def resize(tensor: Tensor) -> Tensor:
        if tensor.dim() <= dim or tensor.shape[dim] != size:
            return tensor
        if step == 0:
            return tensor.narrow(dim, 0, 0).clone()
        more = [tensor] + [tensor.narrow(dim, 0, min(step, size))] * -(-step // max(min(step, size), 1))
        return torch.cat(more, dim).narrow(dim, 0, size + step).contiguous() if size else tensor

    return _changed(call, resize)


def _sizes(before: Call, after: Call) -> str:
    pairs = zip(tensors((before.args, before.kwargs)), tensors((after.args, after.kwargs)), strict=True)
    changed = [f"{tuple(a.shape)} to {tuple(b.shape)}" for a, b in pairs if a.shape != b.shape]
    return ", ".join(dict.fromkeys(changed))
