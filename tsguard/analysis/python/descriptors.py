"""Members of classes that say themselves how they are read and set through an instance: properties, descriptors.

Source: the Python language reference, "Implementing Descriptors"; Python's documentation of ``functools.cached_property``.
"""

from __future__ import annotations

from tsguard.analysis.python import classes, special_methods
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.values import (
    BoundMethod,
    ClassValue,
    Const,
    ObjectValue,
    PropertyValue,
    Value,
)


def read(interp: Interpreter, member: Value, owner: ObjectValue, name: str) -> Value:
    """A member of an instance's class, read through the instance."""
    if isinstance(member, PropertyValue):
        value = interp.call(BoundMethod(member.getter, owner), [], {}, None)
        if member.is_cached:
            owner.attributes[name] = value
        return value
    getter = special_methods.own(interp, member, "__get__")
    if getter is not None:
        return interp.call(getter, [owner, owner.cls], {}, None)
    return classes.bind(member, owner, owner.cls)


def write(interp: Interpreter, owner: ObjectValue, name: str, value: Value) -> bool:
    """Whether the class of an instance says what setting an attribute does; it is done then."""
    found = classes.class_member(interp, owner.cls, name)
    if found is None:
        return False
    if isinstance(found[0], PropertyValue) and found[0].setter is not None:
        interp.call(BoundMethod(found[0].setter, owner), [value], {}, None)
        return True
    setter = special_methods.own(interp, found[0], "__set__")
    if setter is not None:
        interp.call(setter, [owner, value], {}, None)
    return setter is not None


def name_members(interp: Interpreter, cls: ClassValue) -> None:
    """Tell the descriptors of a class that was just defined what they are called."""
    for name, member in list(cls.members.items()):
        named = special_methods.own(interp, member, "__set_name__")
        if named is not None:
            interp.call(named, [cls, Const(name)], {}, None)
