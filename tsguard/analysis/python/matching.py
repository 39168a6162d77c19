"""``match`` statements: whether a value fits a pattern, and the names that it binds."""

from __future__ import annotations

import ast

from tsguard.analysis.python import ancestry, comparisons, records, type_tests
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.terms import placed
from tsguard.analysis.values import (
    NONE,
    ClassValue,
    Const,
    DictValue,
    EnumMember,
    External,
    ListValue,
    ObjectValue,
    Scope,
    SetValue,
    TensorValue,
    TupleValue,
    Unknown,
    Value,
    constant,
    is_none,
)


def fits(interp: Interpreter, subject: Value, case: ast.match_case, scope: Scope) -> bool:
    """Whether a case is taken, its guard included; what the source does not tell is decided by the world."""
    if not _fits(interp, subject, case.pattern, scope):
        return False
    return case.guard is None or interp.truth(interp.evaluate(case.guard, scope), case.guard)


def _fits(interp: Interpreter, subject: Value, pattern: ast.pattern, scope: Scope) -> bool:
    if isinstance(pattern, ast.MatchValue):
        wanted = interp.evaluate(pattern.value, scope)
        return interp.truth(comparisons.compare(interp, ast.Eq(), subject, wanted, pattern.value))
    if isinstance(pattern, ast.MatchSingleton):
        return isinstance(subject, Const) and subject.value is pattern.value
    if isinstance(pattern, ast.MatchOr):
        return any(_fits(interp, subject, part, scope) for part in pattern.patterns)
    if isinstance(pattern, ast.MatchAs):
        is_fitting = pattern.pattern is None or _fits(interp, subject, pattern.pattern, scope)
        if is_fitting and pattern.name:
            scope.names[pattern.name] = subject
        return is_fitting
    if isinstance(pattern, ast.MatchSequence) and isinstance(subject, (ListValue, TupleValue)):
        return _fits_sequence(interp, list(subject.items), subject.open, pattern, scope)
    if isinstance(pattern, ast.MatchMapping) and isinstance(subject, DictValue) and not subject.open:
        return _fits_mapping(interp, subject, pattern, scope)
    if isinstance(pattern, (ast.MatchMapping, ast.MatchSequence)) and _holds_nothing(interp, subject):
        return False
    if isinstance(pattern, ast.MatchClass):
        return _fits_class(interp, subject, pattern, scope)
    return _may_fit(interp, pattern, scope)


def _holds_nothing(interp: Interpreter, subject: Value) -> bool:
    """Whether a value is neither a sequence nor a mapping of the kind that a pattern asks for."""
    if isinstance(subject, ObjectValue):
        bases = ancestry.mro(interp, subject.cls)
        return all(isinstance(base, ClassValue) or base == External("builtins.object") for base in bases)
    return isinstance(subject, (*_PLAIN, EnumMember))


# What is neither a sequence nor a mapping to a pattern; texts are none either.
_PLAIN = (Const, DictValue, ListValue, SetValue, TensorValue, TupleValue)
# Built-in classes of which a pattern's one position is the value itself.
_OF_THEMSELVES = frozenset(
    f"builtins.{name}"
    for name in (
        "bool",
        "bytearray",
        "bytes",
        "dict",
        "float",
        "frozenset",
        "int",
        "list",
        "set",
        "str",
        "tuple",
    )
)


def _fits_class(interp: Interpreter, subject: Value, pattern: ast.MatchClass, scope: Scope) -> bool:
    cls = interp.evaluate(pattern.cls, scope)
    known = type_tests.is_instance(interp, subject, cls)
    if known is False:
        return False
    of_itself = isinstance(cls, External) and cls.name in _OF_THEMSELVES
    names = [NONE] * len(pattern.patterns) if of_itself else _positions(interp, cls)
    if known is None or len(names) < len(pattern.patterns):
        return _may_fit(interp, pattern, scope)
    asked = [
        *zip(names, pattern.patterns, strict=False),
        *zip(map(Const, pattern.kwd_attrs), pattern.kwd_patterns, strict=True),
    ]
    for name, part in asked:
        held = subject if is_none(name) else interp.attribute(subject, str(constant(name)))
        if held is None or not _fits(interp, interp.settled(held), part, scope):
            return False
    return True


def _positions(interp: Interpreter, cls: Value) -> list[Value]:
    """The attributes that the positions of a class pattern name."""
    own = interp.attribute(cls, "__match_args__") if isinstance(cls, ClassValue) else None
    if isinstance(own, TupleValue):
        return list(own.items)
    return [Const(name) for name in records.parameters(interp, cls)] if isinstance(cls, ClassValue) else []


def _fits_mapping(interp: Interpreter, subject: DictValue, pattern: ast.MatchMapping, scope: Scope) -> bool:
    keys = [constant(interp.settled(interp.evaluate(key, scope))) for key in pattern.keys]
    if any(isinstance(key, Value) for key in keys):
        return _may_fit(interp, pattern, scope)
    if any(key not in subject.items for key in keys):
        return False
    if pattern.rest:
        rest = {key: item for key, item in subject.items.items() if key not in keys}
        scope.names[pattern.rest] = DictValue(rest)
    held = [interp.settled(subject.items[key]) for key in keys]
    return all(_fits(interp, item, part, scope) for item, part in zip(held, pattern.patterns, strict=True))


def _fits_sequence(
    interp: Interpreter, items: list[Value], is_open: bool, pattern: ast.MatchSequence, scope: Scope
) -> bool:
    star = next(((i, p) for i, p in enumerate(pattern.patterns) if isinstance(p, ast.MatchStar)), None)
    fixed = [p for p in pattern.patterns if not isinstance(p, ast.MatchStar)]
    if is_open:
        return _may_fit(interp, pattern, scope)
    if len(items) < len(fixed) or (star is None and len(items) > len(fixed)):
        return False
    if star is not None:
        place, starred = star
        rest = items[place : len(items) - (len(fixed) - place)]
        items = items[:place] + items[place + len(rest) :]
        if starred.name:
            scope.names[starred.name] = ListValue(rest)
    return all(_fits(interp, item, part, scope) for item, part in zip(items, fixed, strict=True))


def _may_fit(interp: Interpreter, pattern: ast.pattern, scope: Scope) -> bool:
    """Of a pattern that is not followed: what it binds is not known."""
    for part in ast.walk(pattern):
        name = (
            getattr(part, "rest", None) if isinstance(part, ast.MatchMapping) else getattr(part, "name", None)
        )
        if isinstance(name, str):
            scope.names[name] = Unknown()
    return interp.truth(Unknown(placed(pattern)), pattern)
