"""``match`` statements: whether a value fits a pattern, and the names that it binds."""

from __future__ import annotations

import ast

from tsguard.analysis.python import comparisons, type_tests
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.terms import placed
from tsguard.analysis.values import Const, ListValue, Scope, TupleValue, Unknown, Value


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
    if isinstance(pattern, ast.MatchClass) and not (pattern.patterns or pattern.kwd_patterns):
        known = type_tests.is_instance(interp, subject, interp.evaluate(pattern.cls, scope))
        if known is not None:
            return known
    return _may_fit(interp, pattern, scope)


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
