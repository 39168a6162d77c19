"""The experiment on export pages beside torch.export: a target compiled as one graph."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch

from tests.rules.observe_trace import Make, compiled


def observe(module: ModuleType, name: str) -> dict[str, Any]:
    """Compile the target for its example inputs, as ``compiled`` tells."""
    return compiled(module, name, _whole)


def warm_up() -> None:
    """Import the compiler, which changes what distributions check when it first compiles."""
    importlib.import_module("torch._dynamo")


def _whole(target: Callable[..., Any], make: Make) -> Callable[..., Any]:
    graph: Callable[..., Any] = torch.compile(target, fullgraph=True, backend="eager")
    with torch.no_grad():
        graph(*make["example_inputs"]())
    return graph
