"""Context managers of the project: what they do before and after the body of a ``with`` statement, and what they catch.

Source: the Python language reference, "The with statement"; Python's documentation of ``contextlib``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from tsguard.analysis.python import calls, special_methods
from tsguard.analysis.python.caught import catches
from tsguard.analysis.python.context import Interpreter, Raised, Signal
from tsguard.analysis.python.suspended import Body, Suspended
from tsguard.analysis.values import (
    NONE,
    External,
    FunctionValue,
    ObjectValue,
    Partial,
    Unknown,
    Value,
    constant,
)


def run(interp: Interpreter, manager: Value, item: ast.withitem, body: Body) -> Signal:
    """Run a body, which takes what the manager gives it, between what the manager does."""
    node = item.context_expr
    if isinstance(manager, Partial) and manager.function == calls.MANAGER:
        return _run_generator(interp, manager, body)
    if isinstance(manager, ObjectValue) and manager.cls == External("contextlib.suppress"):
        names = node.args if isinstance(node, ast.Call) else []
        return _catching(lambda: body(NONE), names)
    enter, leave = (special_methods.own(interp, manager, name) for name in ("__enter__", "__exit__"))
    if enter is None or leave is None or not interp.is_plain:
        return body(NONE if item.optional_vars is None else interp.managed(manager, node))
    value = interp.call(enter, [], {}, node)
    try:
        signal = body(value)
    except Raised as raised:
        kind = External(f"builtins.{raised.name or 'Exception'}")
        handled = interp.call(leave, [kind, Unknown(), Unknown()], {}, node)
        if constant(interp.settled(handled)) is not True:
            raise
        return None
    interp.call(leave, [NONE, NONE, NONE], {}, node)
    return signal


def _catching(run_body: Callable[[], Signal], names: Sequence[ast.expr]) -> Signal:
    try:
        return run_body()
    except Raised as raised:
        if any(catches(name, raised.name, raised.kin) for name in names):
            return None
        raise


def _run_generator(interp: Interpreter, manager: Partial, body: Body) -> Signal:
    function, *args = manager.args
    assert isinstance(function, FunctionValue)
    suspended = Suspended([], body=body)
    calls.run_body(interp, function, args, manager.kwargs, None, suspended)
    suspended.enter(Unknown())  # where it was not seen to yield
    return suspended.signal
