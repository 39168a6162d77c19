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

PERHAPS: Final = "perhaps optimized"
"""The same where the source does not tell whether it is disabled."""

SWITCH: Final = "_compiled_call_impl"
"""The attribute that ``module.compile()`` sets: calls of the module go through it."""


@dataclass(eq=False, slots=True)
class Optimized(Unknown):
    """A module, a method or a lambda that was compiled: of its code nobody reads more."""

    is_module: bool = False


def mark(kwargs: Mapping[str, Value]) -> str | None:
    """How ``torch.compile`` marks a function: None where it is disabled."""
    disabled = constant(kwargs.get("disable", FALSE))
    if not isinstance(disabled, bool):
        return PERHAPS
    return None if disabled else MARK


def made_of(value: Value, kwargs: Mapping[str, Value]) -> Value:
    """``torch.compile(value)``."""
    made = mark(kwargs)
    if made is None:
        return value
    if isinstance(value, FunctionValue) and "lambda" not in value.marks:
        return replace(value, marks=value.marks | {made})
    known = made == MARK and isinstance(value, (BoundMethod, FunctionValue, ModuleValue))
    return Optimized(is_module=isinstance(value, ModuleValue)) if known else Unknown()
