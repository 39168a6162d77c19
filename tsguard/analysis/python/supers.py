"""What ``super()`` reaches: the members of the classes behind the one whose method runs."""

from __future__ import annotations

from tsguard.analysis.python import ancestry, classes, records
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.terms import member_of
from tsguard.analysis.values import (
    BoundMethod,
    ClassValue,
    External,
    ObjectValue,
    SuperValue,
    Unknown,
    Value,
)


def get(interp: Interpreter, owner: SuperValue, name: str) -> Value | None:
    """An attribute of ``super()``: the next that one of the classes behind has."""
    receiver = owner.receiver
    cls = _class_of(receiver) or owner.cls
    order = ancestry.mro(interp, cls)
    if isinstance(receiver, ClassValue) and owner.cls not in order:  # in a method of the metaclass
        cls, order = owner.cls, ancestry.mro(interp, owner.cls)
    place = order.index(owner.cls) + 1 if owner.cls in order else 0
    for base in order[place:]:
        if isinstance(base, ClassValue) and name in base.members:
            return classes.bind(base.members[name], receiver, cls)
        made = records.constructor(base) if name == "__init__" and isinstance(base, ClassValue) else None
        if made is not None:
            return BoundMethod(made, receiver)
        if isinstance(base, External) and has_member(interp, base, name):
            return BoundMethod(External(f"{base.name}.{name}"), receiver)
        if isinstance(base, Unknown):
            return Unknown(member_of("super()", name), unread=base.unread)
    return BoundMethod(External(f"builtins.object.{name}"), receiver)


def _class_of(receiver: Value) -> Value | None:
    """The class in whose order super() goes on: that of an instance, or a class itself."""
    if isinstance(receiver, ObjectValue):
        return receiver.cls
    return receiver if isinstance(receiver, ClassValue) else None


_BARE_BASES = frozenset({"builtins.object", "typing.Generic", "abc.ABC", "typing.Protocol", "enum.Enum"})


def has_member(interp: Interpreter, base: External, name: str) -> bool:
    """Whether a class that is not read has a member of this name; torch's are in the tables."""
    if base.name in _BARE_BASES:
        return False
    if base.name == "torch.nn.Module":
        return name == "__init__" or name in interp.tables.module_members
    entry = interp.tables.modules.get(base.name)
    return entry is None or name in ("__init__", "forward") or name in entry["methods"]
