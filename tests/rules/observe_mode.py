"""The experiment on mode pages: call a target in train() and in eval(), more than once."""

from __future__ import annotations

import copy
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from tests.rules.comparison import built, same


def observe(module: ModuleType, name: str) -> dict[str, Any]:
    """Call fresh copies of the target in both modes, with seeds that are the same or differ.

    Returns:
        ``eval_error`` what ``eval()`` raised or None, ``eval_returns`` whether it returns the
        module, ``thawed`` whether ``train()`` puts a submodule into training mode that the
        constructor leaves in eval mode, ``differ`` whether equal seeds give different results
        in the two modes, and for each mode whether results are ``random`` and ``updates``
        state: parameters, buffers, attributes that are numbers.
    """
    target = built(module, name)
    assert isinstance(target, nn.Module)
    frozen = [child for child in target.modules() if not child.training]
    try:
        returned = copy.deepcopy(target).eval()
    except Exception as error:
        return {"eval_error": str(error), "eval_returns": False}
    target.train()
    thawed = any(child.training for child in frozen)
    results = {mode: _call(_in_mode(target, mode), module, 0) for mode in (True, False)}
    return {
        "eval_error": None,
        "eval_returns": isinstance(returned, nn.Module),
        "thawed": thawed,
        "differ": not same(results[True], results[False]),
        "random": {_word(mode): _is_random(target, mode, module) for mode in (True, False)},
        "updates": {_word(mode): _updates(_in_mode(target, mode), module) for mode in (True, False)},
    }


def _word(mode: bool) -> str:
    return "train" if mode else "eval"


def _in_mode(target: nn.Module, mode: bool) -> nn.Module:
    """A copy of the target, put into a mode as users do it."""
    fresh = copy.deepcopy(target)
    fresh.train(mode)
    return fresh


def _call(target: nn.Module, module: ModuleType, seed: int) -> Any:
    torch.manual_seed(0)
    inputs = module.example_inputs()
    torch.manual_seed(seed)
    return target(*inputs)


def _is_random(target: nn.Module, mode: bool, module: ModuleType) -> bool:
    first = _call(_in_mode(target, mode), module, 0)
    return any(not same(first, _call(_in_mode(target, mode), module, seed)) for seed in (1, 2, 3))


def _updates(target: nn.Module, module: ModuleType) -> bool:
    before = _state(target)
    _call(target, module, 0)
    after = _state(target)
    return any(not same(after[name], value) for name, value in before.items())


def _state(target: nn.Module) -> dict[str, Any]:
    state: dict[str, Any] = {name: value.detach().clone() for name, value in target.named_parameters()}
    state |= {name: value.detach().clone() for name, value in target.named_buffers()}
    state |= {
        f"{name} of self": value for name, value in vars(target).items() if isinstance(value, (int, float))
    }
    return {
        name: value
        for name, value in state.items()
        if isinstance(value, Tensor) or name != "training of self"
    }
