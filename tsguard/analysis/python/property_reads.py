"""Properties as Python reads them: torch.jit asks an instance for every name of its class.

Source: torch/jit/_recursive.py (``get_overload_annotations``).
"""

from __future__ import annotations

import ast
import builtins

from tsguard.analysis.python.context import Interpreter, Raised
from tsguard.analysis.values import BoundMethod, FunctionValue, ModuleValue
from tsguard.source.walking import walked


def raised_by(interp: Interpreter, instance: ModuleValue, getter: FunctionValue) -> Raised | None:
    """What reading a property raises, where that is anything but AttributeError: it ends scripting and tracing."""
    if not any(isinstance(node, ast.Raise) for node in walked(getter.node)):
        return None
    try:
        interp.call(BoundMethod(getter, instance), [], {})
    except Raised as raised:
        return raised if _is_let_through(raised.name) else None
    return None


def _is_let_through(exception: str) -> bool:
    """``getattr`` with a default lets through all exceptions but AttributeError."""
    kind = getattr(builtins, exception, None)
    return isinstance(kind, type) and issubclass(kind, Exception) and not issubclass(kind, AttributeError)
