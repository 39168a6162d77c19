"""Layers of torch that take their sizes from the first call: until then they have no parameters.

Source: torch/nn/modules/lazy.py.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from tsguard.runtime.worker.running import SEED, Call
from tsguard.runtime.worker.state import seed_everything


def are_in(callee: Any) -> bool:
    """Whether a module has such layers that have not been called."""
    if not isinstance(callee, nn.Module):
        return False
    return any(True for _ in _lazy_tensors(callee))


def _lazy_tensors(module: nn.Module) -> Iterator[Any]:
    return filter(is_lazy, itertools.chain(module.parameters(), module.buffers()))


def _copied(module: nn.Module) -> nn.Module:
    """A copy, which torch makes of no lazy buffer by itself."""
    fresh = {id(held): type(held)(device=held.device, dtype=held.dtype) for held in _lazy_tensors(module)}
    return copy.deepcopy(module, fresh)


def apart(callee: Any) -> Any:
    """What may be called with inputs that are only tried: a copy where the first call would stay."""
    return _copied(callee) if are_in(callee) else callee


def before_calling(callee: Any, call: Call) -> nn.Module | None:
    """Call a module once where it has such layers; what there was before, None without them.

    What the call itself raises is left to those who make it again.
    """
    if not are_in(callee):
        return None
    before = _copied(callee)
    seed_everything(SEED)
    with contextlib.suppress(Exception), torch.no_grad():
        call.cloned().on(callee)
    return before
