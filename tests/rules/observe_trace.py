"""The experiment on trace pages: trace a target, and hold the trace against eager."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch

from tests.rules.comparison import built, called, inputs, same

Make = dict[str, Callable[[], Any]]


def observe(module: ModuleType, name: str) -> dict[str, Any]:
    """Trace the target for its example inputs, and call it with all inputs, as ``compiled`` tells."""
    return compiled(module, name, _trace)


def warm_up() -> None:
    """The first trace imports much."""
    torch.jit.trace(torch.nn.Identity(), torch.ones(2))


def compiled(module: ModuleType, name: str, compile_: Callable[..., Any]) -> dict[str, Any]:
    """Compile a target in eval mode, and call it.

    Returns:
        ``error`` what compiling raised or None, ``warnings`` what it warned of, each with its
        line in the example (0 for a line elsewhere), and ``calls`` for each of the example's
        inputs: the errors of ``eager`` and of the ``compiled`` code, and whether the results
        are ``equal``.
    """
    make = inputs(module)
    torch.manual_seed(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = compile_(_inference(module, name), make)
            error = None
        except Exception as raised:
            error = str(raised) or type(raised).__name__
    said = [
        (warning.lineno if warning.filename == module.__file__ else 0, str(warning.message))
        for warning in caught
    ]
    calls = {} if error else _calls(_inference(module, name), result, make)
    return {"error": error, "warnings": said, "calls": calls}


def _inference(module: ModuleType, name: str) -> Callable[..., Any]:
    target = built(module, name)
    return target.eval() if isinstance(target, torch.nn.Module) else target


def _trace(target: Callable[..., Any], make: Make) -> Callable[..., Any]:
    traced: Callable[..., Any] = torch.jit.trace(target, make["example_inputs"]())
    return traced


def _calls(eager: Callable[..., Any], result: Callable[..., Any], make: Make) -> dict[str, Any]:
    found = {}
    for which, arguments in make.items():
        expected, got = called(eager, arguments), called(result, arguments)
        equal = expected.error is got.error is None and same(expected.value, got.value)
        found[which] = {"eager": expected.error, "compiled": got.error, "equal": equal}
    return found
