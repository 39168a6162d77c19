"""Objects of classes that derive from ``nn.Parameter``, as a module registers them: as parameters."""

from __future__ import annotations

import ast

from tsguard.analysis.python import ancestry
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.values import ClassValue, ObjectValue, TensorValue, Value
from tsguard.source.walking import walked

_PARAMETERS = ("torch.nn.Parameter", "torch.nn.parameter.Parameter")


def registered(interp: Interpreter, value: Value) -> Value:
    """A parameter for an object that is one, with the attributes that the object may have; others as they are."""
    if not isinstance(value, ObjectValue) or not isinstance(value.cls, ClassValue):
        return value
    if not any(ancestry.derives_from(interp, value.cls, base) for base in _PARAMETERS):
        return value
    classes = [cls for cls in ancestry.mro(interp, value.cls) if isinstance(cls, ClassValue)]
    return TensorValue("parameter", given=frozenset().union(value.attributes, *map(_names, classes)))


def _names(cls: ClassValue) -> set[str]:
    """What a class defines, and what its methods set on some object."""
    set_on = {
        part.attr
        for part in walked(cls.node)
        if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store)
    }
    return set_on | set(cls.members)
