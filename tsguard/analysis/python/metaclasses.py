"""Metaclasses, which make the instances of their classes: with a ``__call__`` of their own, or not at all."""

from __future__ import annotations

import ast

from tsguard.analysis.python import ancestry, classes, descriptors, transforms
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.values import (
    ClassValue,
    Const,
    DictValue,
    External,
    FunctionValue,
    ListValue,
    ModuleValue,
    ObjectValue,
    PropertyValue,
    Scope,
    TupleValue,
    Unknown,
    Value,
)


def maker(interp: Interpreter, cls: ClassValue) -> FunctionValue | None:
    """The ``__call__`` of a class's metaclass; None where it is Python's own."""
    return _method(interp, cls, "__call__")


def subscripts(interp: Interpreter, cls: ClassValue) -> bool:
    """Whether brackets after a class run a method of its metaclass, which may give anything."""
    return _method(interp, cls, "__getitem__") is not None


def _method(interp: Interpreter, cls: ClassValue, name: str) -> FunctionValue | None:
    for base in ancestry.mro(interp, cls):
        named = _metaclass(base) if isinstance(base, ClassValue) else None
        if named is not None:
            assert isinstance(base, ClassValue)
            metaclass = interp.settled(interp.evaluate(named, base.scope))
            found = classes.class_member(interp, metaclass, name)
            return found[0] if found is not None and isinstance(found[0], FunctionValue) else None
    return None


def define_class(interp: Interpreter, node: ast.ClassDef, scope: Scope) -> Value:
    """The value that a ``class`` statement binds."""
    cls = classes.define_class(interp, node, scope)
    if isinstance(cls, ClassValue):
        descriptors.name_members(interp, cls)
        _hide(interp, cls)
        if any(_makes_records(interp, base) for base in cls.bases):
            cls.marks = cls.marks | {"record", _MAKER}
    return cls


_MAKER = "makes records"


def _makes_records(interp: Interpreter, base: Value) -> bool:
    """Whether what derives from a class is a record: by a mark on it or on its metaclass, or on those before it."""
    if not isinstance(base, ClassValue):
        return False
    if _MAKER in base.marks or transforms.is_marked(base.node):
        return True
    named = _metaclass(base)
    metaclass = interp.settled(interp.evaluate(named, base.scope)) if named is not None else None
    return isinstance(metaclass, ClassValue) and transforms.is_marked(metaclass.node)


def _hide(interp: Interpreter, cls: ClassValue) -> None:
    """What a class holds beside methods is not told where a metaclass with a ``__new__`` of its own makes it."""
    order = [base for base in ancestry.mro(interp, cls) if isinstance(base, ClassValue)]
    named = next(((base, found) for base in order if (found := _metaclass(base)) is not None), None)
    if named is None:
        return
    owner, expression = named
    metaclass = interp.settled(interp.evaluate(expression, owner.scope))
    if isinstance(metaclass, ClassValue) and any(
        classes.class_member(interp, metaclass, name) is not None for name in ("__new__", "__init__")
    ):
        for base in order:
            for name, member in base.members.items():
                if isinstance(member, _PLAIN) and not name.startswith("__"):
                    cls.members[name] = Unknown()


_PLAIN = (Const, TupleValue, ListValue, DictValue)


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
