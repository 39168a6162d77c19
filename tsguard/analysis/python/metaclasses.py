"""Metaclasses, which make the instances of their classes: with a ``__call__`` of their own, or not at all."""

from __future__ import annotations

import ast

from tsguard.analysis.python import ancestry, classes
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.values import (
    ClassValue,
    External,
    FunctionValue,
    ModuleValue,
    ObjectValue,
    PropertyValue,
    Unknown,
    Value,
)


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


def abstract_method(interp: Interpreter, cls: ClassValue) -> str | None:
    """The name of a method that keeps instances from being made; ``abc`` forbids it, the mark alone does not."""
    order = [base for base in ancestry.mro(interp, cls) if isinstance(base, ClassValue)]
    names = dict.fromkeys(
        name for base in order for name, value in base.members.items() if _is_abstract(value)
    )
    if not names or not any(_is_of_abc(interp, base) for base in order):
        return None
    found = {name: classes.class_member(interp, cls, name) for name in names}
    return next(
        (name for name, member in found.items() if member is not None and _is_abstract(member[0])), None
    )


def _is_of_abc(interp: Interpreter, cls: ClassValue) -> bool:
    named = _metaclass(cls)
    made_by = interp.settled(interp.evaluate(named, cls.scope)) if named is not None else None
    return made_by == External("abc.ABCMeta") or External("abc.ABC") in cls.bases


def _is_abstract(value: Value) -> bool:
    function = value.getter if isinstance(value, PropertyValue) else value
    return isinstance(function, FunctionValue) and "abstract" in function.marks


def _metaclass(cls: ClassValue) -> ast.expr | None:
    return next((keyword.value for keyword in cls.node.keywords if keyword.arg == "metaclass"), None)


def bare(interp: Interpreter, cls: Value) -> Value:
    """``object.__new__(cls)``: an instance that no constructor has run on."""
    if not isinstance(cls, ClassValue):
        return Unknown()
    return ModuleValue(cls) if ancestry.is_module_class(interp, cls) else ObjectValue(cls)
