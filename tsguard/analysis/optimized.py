"""What ``torch.compile`` gives: a function or module that ``torch.jit.trace`` refuses to call.

It raises where it finds that it runs while torch.jit traces (``torch/_dynamo/eval_frame.py``,
``error_on_nested_jit_trace``, since torch 2.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tsguard.analysis.values import (
    FALSE,
    BoundMethod,
    FunctionValue,
    ModuleValue,
    Unknown,
    Value,
    constant,
)
from tsguard.report.records import dataclass, replace

MARK: Final = "optimized"
"""Of a function whose ``def`` is known: torch.jit.script compiles that."""

SWITCH: Final = "_compiled_call_impl"
"""The attribute that ``module.compile()`` sets: calls of the module go through it."""


@dataclass(eq=False, slots=True)
class Optimized(Unknown):
    """A module, a method or a lambda that was compiled: of its code nobody reads more."""


def optimizes(kwargs: Mapping[str, Value]) -> bool | None:
    """Whether ``torch.compile`` is not disabled; None where the source does not tell."""
    disabled = constant(kwargs.get("disable", FALSE))
    return not disabled if isinstance(disabled, bool) else None


def made_of(value: Value, kwargs: Mapping[str, Value]) -> Value:
    """``torch.compile(value)``."""
    optimized = optimizes(kwargs)
    if optimized is None:
        return Unknown()
    if not optimized:
        return value
    if isinstance(value, FunctionValue) and "lambda" not in value.marks:
        return replace(value, marks=value.marks | {MARK})
    return Optimized() if isinstance(value, (BoundMethod, FunctionValue, ModuleValue)) else Unknown()
