"""Numbers and texts that modules of the standard library hold, and switches of torch: ``logging.INFO``, ``sys.platform``."""

from __future__ import annotations

import importlib
import sys

from tsguard.analysis.terms import Named
from tsguard.analysis.values import Const, TupleValue, Unknown, Value

# What these hold is the same wherever the code runs.
_FIXED = frozenset({"calendar", "cmath", "logging", "math", "string"})
# Of these only the type is; what code branches on is as here, as type checkers take it.
_OF_MACHINES = frozenset({"errno", "os", "os.path", "signal", "socket", "stat", "sys", "time"})
_AS_HERE = frozenset({"sys.byteorder", "sys.maxsize", "sys.platform", "os.name"})

# Properties of torch.backends that say how torch computes.
_SWITCHES = frozenset({"allow_tf32", "benchmark", "deterministic", "enabled"})


def value_of(name: str) -> Value | None:
    """What a name holds, if it is a number or a text; None for what is something else or not known."""
    if name == "sys.version_info":
        return TupleValue(tuple(map(Const, sys.version_info)))
    module, _, short = name.rpartition(".")
    if module.startswith("torch.backends.") and short in _SWITCHES:
        return Unknown(Named(name, name), "bool")
    if module not in _FIXED and module not in _OF_MACHINES:
        return None
    held = getattr(importlib.import_module(module), short, None)
    kind = next((kind for kind in (bool, int, float, str) if isinstance(held, kind)), None)
    if kind is None or held is None:
        return None
    return Const(held) if module in _FIXED or name in _AS_HERE else Unknown(Named(name, name), kind.__name__)
