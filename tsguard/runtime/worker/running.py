"""One run of a module or an attempt, from a known state, with a known seed."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from tsguard.runtime.worker.state import State, own_name, seed_everything
from tsguard.runtime.worker.values import cloned, floating

SEED = 20210


@dataclass(frozen=True, slots=True)
class Call:
    """Arguments of one call of ``forward``; ``gradients`` where it takes gradients itself, as a force
    field does, which nobody calls under ``no_grad``."""

    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    gradients: bool = False

    def cloned(self) -> Call:
        return replace(self, args=cloned(self.args), kwargs=cloned(self.kwargs))

    def in_mode(self, backward: bool) -> torch.set_grad_enabled:
        """The context of the call: with gradients in training, or where it takes them itself."""
        return torch.set_grad_enabled(backward or self.gradients)

    def on(self, function: Callable[..., Any]) -> Any:
        return function(*self.args, **self.kwargs)


@dataclass(frozen=True, slots=True)
class Result:
    """What a run left behind: outputs, gradients by parameter, buffers, the inputs as they are now.

    ``moved`` tells whether the state is another than before the run, where that was watched.
    """

    output: Any
    gradients: dict[str, Tensor]
    buffers: dict[str, Tensor]
    inputs: Any
    moved: bool = False


def run(
    callee: Any,
    call: Call,
    state: State,
    *,
    backward: bool,
    before: Call | None = None,
    watched: bool = False,
    seed: int = SEED,
) -> Result:
    """Run once, after the call ``before`` if there is one, and put the state back.

    Args:
        watched: whether to see what the run does to the state of its owner.

    Raises:
        Exception: whatever the callee raises.
    """
    state.restore(callee)
    try:
        if before is not None:
            with before.in_mode(backward=False):
                before.cloned().on(callee)
        call = call.cloned()
        given = list(floating((call.args, call.kwargs)))  # a call may put others in their place
        seed_everything(seed)
        with call.in_mode(backward):
            output = call.on(callee)
            gradients = _gradients(callee, given, output) if backward else {}
        named = callee.named_buffers() if isinstance(callee, nn.Module) else ()
        buffers = {own_name(name): buffer for name, buffer in named}
        inputs = call.args, call.kwargs
        return Result(cloned(output), gradients, cloned(buffers), inputs, watched and state.has_moved())
    finally:
        state.restore(callee)


def asks_for_gradients(error: BaseException) -> bool:
    """Whether a call failed because it takes gradients itself."""
    return isinstance(error, RuntimeError) and "does not require grad" in str(error)


def _gradients(callee: Any, given: list[Tensor], output: Any) -> dict[str, Tensor]:
    """Gradients of a weighted sum of the outputs, so that none cancels by symmetry."""
    wanted = learnable(callee)
    for index, tensor in enumerate(given):
        if tensor.requires_grad:
            wanted[f"input {index}"] = tensor
    outputs = [t for t in floating(output) if t.requires_grad]
    if not outputs or not wanted:
        return {}
    weighted = [_weights(t) * t for t in outputs]
    loss = functools.reduce(torch.add, [(t.abs() if t.is_complex() else t).sum() for t in weighted])
    found = torch.autograd.grad(loss, list(wanted.values()), allow_unused=True)
    return {name: g.detach() for name, g in zip(wanted, found, strict=True) if g is not None}


def learnable(callee: Any) -> dict[str, Tensor]:
    """The parameters that training would change, by name."""
    if not isinstance(callee, nn.Module):
        return {}
    return {own_name(name): p for name, p in callee.named_parameters() if p.requires_grad}


def _weights(tensor: Tensor) -> Tensor:
    count = torch.arange(tensor.numel(), device=tensor.device, dtype=torch.float32)
    return (torch.cos(count) / max(tensor.numel(), 1)).view(tensor.shape).to(tensor.dtype)


def scalar_loss(output: Any) -> Tensor | None:
    """The mean of all outputs, as a training step would have; None if nothing can be learned."""
    outputs = [t for t in floating(output) if t.requires_grad and not t.is_complex()]
    if not outputs:
        return None
    total = outputs[0].mean()
    for tensor in outputs[1:]:
        total = total + tensor.mean()
    return total
