"""Members of enumerations: their values, and how they read."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.values import (
    Atom,
    ClassValue,
    Const,
    DictValue,
    EnumMember,
    External,
    ListValue,
    ObjectValue,
    SetValue,
    TensorValue,
    TupleValue,
    Unknown,
    Value,
    plain,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


# Bases of enumerations whose members are also what their value is.
_MIXED_IN = frozenset(
    ["builtins.str", "builtins.int", "builtins.float", "enum.StrEnum", "enum.IntEnum", "enum.IntFlag"]
)


# What becomes a member; functions and what binds to an instance stay as they are.
_TAKEN = (
    Atom, Const, DictValue, ListValue, ObjectValue, SetValue, TensorValue, TupleValue, Unknown,
)  # fmt: skip


def make_members(interp: Interpreter, cls: ClassValue, ancestry: Sequence[Value]) -> None:
    """The plain values in an enumeration's body become its members."""
    bases = {base.name for base in ancestry if isinstance(base, External)}
    automatic = _automatic(interp, cls, bases)
    for name, value in list(cls.members.items()):
        if not name.startswith("_") and isinstance(value, _TAKEN):
            given = automatic.get(name, value)
            alike = given if isinstance(given, Const) and bases & _MIXED_IN else None
            cls.members[name] = _first_with(cls, given) or EnumMember(cls, name, given, alike)


def _first_with(cls: ClassValue, value: Value) -> EnumMember | None:
    """The member of which a name with the same value is an alias."""
    if not isinstance(value, Const):
        return None
    members = (member for member in cls.members.values() if isinstance(member, EnumMember))
    return next((m for m in members if isinstance(m.value, Const) and m.value.value == value.value), None)


def _automatic(interp: Interpreter, cls: ClassValue, bases: set[str]) -> dict[str, Value]:
    """The values that ``enum.auto()`` stands for."""
    found: dict[str, Value] = {}
    if "_generate_next_value_" in cls.members or bases & {"enum.Flag", "enum.IntFlag"}:
        return found
    last: object = 0
    for node in cls.node.body:
        if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
            continue
        name = node.targets[0].id
        if isinstance(node.value, ast.Call) and _is_auto(interp, node.value, cls):
            if "enum.StrEnum" in bases:
                found[name] = Const(name.lower())
            elif isinstance(last, int):
                last += 1
                found[name] = Const(last)
        else:
            value = cls.members.get(name)
            last = value.value if isinstance(value, Const) else None
    return found


def _is_auto(interp: Interpreter, call: ast.Call, cls: ClassValue) -> bool:
    return interp.evaluate(call.func, cls.scope) == External("enum.auto")


def looked_up(cls: ClassValue, value: Value | None) -> EnumMember | None:
    """The member that a call of an enumeration gives: that with this value."""
    if isinstance(value, EnumMember):
        return value
    members = (member for member in cls.members.values() if isinstance(member, EnumMember))
    found = (member for member in members if value is not None and member.value == plain(value))
    return next(found, None)
