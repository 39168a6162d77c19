"""Metaclasses with a ``__call__`` of their own, which make the instances of their classes."""

from __future__ import annotations

import ast

from tsguard.analysis.python import ancestry, classes
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.values import ClassValue, FunctionValue, ModuleValue, ObjectValue, Unknown, Value


def maker(interp: Interpreter, cls: ClassValue) -> FunctionValue | None:
    """The ``__call__`` of a class's metaclass; None where it is Python's own."""
    for base in ancestry.mro(interp, cls):
        named = _metaclass(base) if isinstance(base, ClassValue) else None
        if named is not None:
            assert isinstance(base, ClassValue)
            metaclass = interp.settled(interp.evaluate(named, base.scope))
            found = classes.class_member(interp, metaclass, "__call__")
            return found[0] if found is not None and isinstance(found[0], FunctionValue) else None
    return None


def _metaclass(cls: ClassValue) -> ast.expr | None:
    return next((keyword.value for keyword in cls.node.keywords if keyword.arg == "metaclass"), None)


def bare(interp: Interpreter, cls: Value) -> Value:
    """``object.__new__(cls)``: an instance that no constructor has run on."""
    if not isinstance(cls, ClassValue):
        return Unknown()
    return ModuleValue(cls) if ancestry.is_module_class(interp, cls) else ObjectValue(cls)
