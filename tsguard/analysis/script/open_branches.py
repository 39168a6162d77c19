"""Branches of which a type decides that was not read: torch may compile one of them alone."""

from __future__ import annotations

from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.environment import Frame
from tsguard.analysis.script.sugared import Simple, Value
from tsguard.language import types as t


def join(fc: FunctionCompiler, then: Frame, otherwise: Frame) -> None:
    """Keep of the variables what both branches agree on; whether the function goes on after them is open."""
    fc.failed = fc.failed or then.exits is not otherwise.exits
    for name in {*then.variables, *otherwise.variables}:
        types = [side.value.type for f in (then, otherwise) if isinstance(side := f.find(name), Simple)]
        is_known = len(types) == 2 and types[0] == types[1]
        fc.frame.variables[name] = Value(types[0] if is_known else t.UNKNOWN)
        fc.frame.sugared.pop(name, None)
