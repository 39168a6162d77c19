"""Classes derived from ``torch.autograd.Function``: what ``apply`` runs.

Source: torch/autograd/function.py.
"""

from __future__ import annotations

from tsguard.analysis.python import classes
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.values import ClassValue, External, FunctionValue, ObjectValue, Value

_CONTEXT = "torch.autograd.function.FunctionCtx"


def forward_of(interp: Interpreter, cls: ClassValue) -> tuple[FunctionValue, list[Value]] | None:
    """The ``forward`` of a class, and what it is given before the arguments of ``apply``; None where it has none."""
    found = classes.class_member(interp, cls, "forward")
    function = getattr(found[0], "function", found[0]) if found is not None else None
    if not isinstance(function, FunctionValue):
        return None
    is_apart = classes.class_member(interp, cls, "setup_context") is not None
    return function, [] if is_apart else [_context()]


def _context() -> ObjectValue:
    """What a function is given to keep for its backward."""
    names = ("save_for_backward", "set_materialize_grads", "mark_dirty", "mark_non_differentiable")
    methods: dict[str, Value] = {name: External(f"{_CONTEXT}.{name}") for name in names}
    return ObjectValue(External(_CONTEXT), methods, open=True)
