"""Two branches of which either may be taken: both are run, and what they leave is joined."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tsguard.analysis import values as py
from tsguard.analysis.python.context import Raised, Return, Signal
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.joins import merge
from tsguard.analysis.values import Scope

Branch = Callable[[], Signal]


def both(tracer: Tracer, body: Branch, orelse: Branch, scope: Scope, test: py.Value | None = None) -> Signal:
    """Run two branches of which either may be taken, as ``test`` decides; go on with what both leave.

    A branch that returns while the other goes on leaves its value with the frame.
    """
    first, after, second = tried(tracer, body, orelse, scope, test)
    signal = resumed(tracer, first, second, after, scope)
    if signal is None and isinstance(first, Return) is not isinstance(second, Return):
        tracer.assume(test, isinstance(second, Return))
    return signal


def tried(
    tracer: Tracer, body: Branch, orelse: Branch, scope: Scope, test: py.Value | None
) -> tuple[Signal | Raised, dict[str, py.Value], Signal | Raised]:
    """How either branch ends, and the names that the first leaves; the scope has those of the second."""
    before = dict(scope.names)
    first = _ended(tracer, body, test, holds=True)
    after = dict(scope.names)
    scope.names.clear()
    scope.names.update(before)
    return first, after, _ended(tracer, orelse, test, holds=False)


def resumed(
    tracer: Tracer, first: Signal | Raised, second: Signal | Raised, after: dict[str, py.Value], scope: Scope
) -> Signal:
    """How it goes on after both, with the names that the first left ``after`` it: one that raised was not taken."""
    if isinstance(first, Raised) and isinstance(second, Raised):
        raise second
    if isinstance(first, Raised):
        return None if isinstance(second, Raised) else second
    if isinstance(second, Raised):
        scope.names.clear()
        scope.names.update(after)
        return first
    return _met(tracer, first, second, after, scope)


def _ended(tracer: Tracer, branch: Branch, test: py.Value | None, *, holds: bool) -> Signal | Raised:
    """How a branch ends; what one that only raises bakes is never served."""
    known, exports = len(tracer.events), tracer.exports.keys()
    try:
        with tracer.branching(test), tracer.assuming(test, holds):
            return branch()
    except Raised as raised:
        if isinstance(raised.node, ast.Raise) and not tracer.tries:
            tracer.exports.back_to(exports)
            tracer.drop_events(known)
        return raised


def _met(tracer: Tracer, first: Signal, second: Signal, after: dict[str, py.Value], scope: Scope) -> Signal:
    if isinstance(first, Return) and isinstance(second, Return):
        return Return(tracer.join(first.value, second.value))
    for signal in (first, second):
        if isinstance(signal, Return) and tracer.frames:
            tracer.frames[-1].returned.append(signal.value)
    if first is None and second is None:
        merge(scope, after, dict(scope.names))
    elif first is None:
        scope.names.clear()
        scope.names.update(after)
    if first is not None and second is not None:
        return second if isinstance(first, Return) else first
    return None
