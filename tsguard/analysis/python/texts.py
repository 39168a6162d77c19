"""What ``str`` makes of a value."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tsguard.analysis.python import ancestry, classes, sizes
from tsguard.analysis.python.constants import known
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.python.folding import folded
from tsguard.analysis.values import (
    BoundMethod,
    ClassValue,
    Const,
    EnumMember,
    External,
    FunctionValue,
    Scope,
    Unknown,
    Value,
    constant,
)

# Bases of enumerations whose members read as their value.
_READ_AS_VALUE = frozenset(["enum.StrEnum", "enum.IntEnum", "enum.IntFlag"])


def shown(interp: Interpreter, value: Value) -> Value:
    """What ``str`` makes of a member, by its class's own ``__str__`` if that has one, or of a class; others as they are."""
    if isinstance(value, ClassValue) and value.scope.is_global and not _is_enumeration(interp, value):
        return Const(f"<class '{value.module.name}.{value.name}'>")
    if not isinstance(value, EnumMember):
        return value
    found = classes.class_member(interp, value.cls, "__str__")
    if found is not None and isinstance(found[0], FunctionValue):
        return interp.settled(interp.call(BoundMethod(found[0], value), [], {}))
    bases = {base.name for base in ancestry.mro(interp, value.cls) if isinstance(base, External)}
    if value.alike is not None and bases & _READ_AS_VALUE:
        return Const(str(value.alike.value))
    return Const(f"{value.cls.name}.{value.name}")


def formatted(interp: Interpreter, node: ast.FormattedValue, scope: Scope) -> Value:
    """What a replacement field of an f-string becomes; the value itself where that is not told."""
    value = interp.settled(interp.evaluate(node.value, scope))
    how = Const("") if node.format_spec is None else interp.evaluate(node.format_spec, scope)
    convert = _CONVERSIONS.get(node.conversion)
    is_shown = convert is str or (convert is None and node.format_spec is None)
    given, spec = known(shown(interp, value) if is_shown else value), constant(how)
    if isinstance(given, Value) or not isinstance(spec, str):
        return Unknown()
    return folded(interp, sizes.formatted, (given if convert is None else convert(given), spec), node)


_CONVERSIONS: dict[int, Callable[[object], str]] = {ord("s"): str, ord("r"): repr, ord("a"): ascii}


def _is_enumeration(interp: Interpreter, cls: ClassValue) -> bool:
    return ancestry.derives_from(interp, cls, "enum.Enum")
