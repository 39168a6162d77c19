"""Properties as Python reads them: torch asks an instance for every name of its class.

Source: torch/jit/_recursive.py (``get_overload_annotations``).
"""

from __future__ import annotations

import ast
import builtins

from tsguard.analysis import values as py
from tsguard.analysis.python.context import Raised
from tsguard.analysis.script.context import Compiler
from tsguard.analysis.script.refusals import Refusal
from tsguard.source.walking import walked


def is_readable(compiler: Compiler, instance: py.ModuleValue, name: str, member: py.PropertyValue) -> bool:
    """Whether a property's getter returns; one that raises anything but AttributeError ends scripting."""
    getter = member.getter
    if not isinstance(getter, py.FunctionValue) or not _may_raise(getter):
        return True
    if name in compiler.info(instance).ignored:
        return True
    try:
        compiler.interp.call(py.BoundMethod(getter, instance), [], {})
    except Raised as raised:
        if raised.node is None or not _ends_scripting(raised.name):
            return True
        facts = {"property": name, "error": raised.name, "name": compiler.name_of(instance)}
        compiler.report(Refusal("declared-unscriptable/property", raised.node, **facts), getter.module)
        return False
    return True


def _may_raise(getter: py.FunctionValue) -> bool:
    return any(isinstance(node, ast.Raise) for node in walked(getter.node))


def _ends_scripting(exception: str) -> bool:
    """``getattr`` with a default lets through all exceptions but AttributeError."""
    kind = getattr(builtins, exception, None)
    return isinstance(kind, type) and issubclass(kind, Exception) and not issubclass(kind, AttributeError)
