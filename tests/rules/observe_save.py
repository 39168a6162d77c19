"""The experiment on the pages of what a file cannot hold: script and trace a target, and save either."""

from __future__ import annotations

import io
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch

from tests.rules.comparison import built, inputs, same


def observe(module: ModuleType, name: str) -> dict[str, str | None]:
    """What saving a "script" and a "trace" of the target raises.

    None where torch saves it, and what is loaded does as eager; "" where torch does not make it.
    """

    def trace(target: Callable[..., Any]) -> Any:
        return torch.jit.trace(target, inputs(module)["example_inputs"](), check_trace=False)

    return {"script": _saved(module, name, torch.jit.script), "trace": _saved(module, name, trace)}


def _saved(module: ModuleType, name: str, compile_: Callable[..., Any]) -> str | None:
    try:
        made = compile_(built(module, name))
    except Exception:
        return ""
    file = io.BytesIO()
    try:
        torch.jit.save(made, file)
    except RuntimeError as error:
        return str(error)
    file.seek(0)
    given = inputs(module)["example_inputs"]()
    assert same(torch.jit.load(file)(*given), built(module, name)(*given))
    return None
