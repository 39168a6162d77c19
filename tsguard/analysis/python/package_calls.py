"""Calls of functions of packages that are not about torch: followed as far as that leads to something."""

from __future__ import annotations

from collections.abc import Callable

from tsguard.analysis import unread as unread_gaps
from tsguard.analysis.budgets import PACKAGE_STEPS
from tsguard.analysis.python.context import CHANGEABLE, Interpreter, Raised
from tsguard.analysis.python.decorators import bounded
from tsguard.analysis.values import FunctionValue, ModuleValue, Unknown, Value


def followed(
    interp: Interpreter, function: FunctionValue, given: list[Value], run: Callable[[], Value]
) -> Value:
    """What ``run`` makes of a call; unknown if that takes too long, or in a wary world raises on a guess."""
    world = interp.world
    is_method = bool(given) and isinstance(given[0], ModuleValue)
    is_guarded = world.manner == "wary" and not interp.guards and not is_method
    asks = world.asks
    interp.guards += is_guarded
    try:
        made = bounded(interp, run, PACKAGE_STEPS)
        why = unread_gaps.size
    except Raised:
        if not is_guarded or interp.tries or world.asks == asks:
            raise
        made, why = None, unread_gaps.guesses
    finally:
        interp.guards -= is_guarded
    if made is not None:
        return made
    for value in given:
        if isinstance(value, CHANGEABLE):
            value.open = True  # what the rest of the call does to it is not seen
            interp.program.shared_state.used(value)
    name = function.name if function.owner is None else f"{function.owner.name}.{function.name}"
    return Unknown(unread=why(name, function.module, function.node))
