"""Functions under ``functools.lru_cache`` that are given what nobody knows: followed once for what is alike.

Following one again would tell nothing new: what is not remembered is what has told of anything, or gives
anything that comes from an input.  What asks no questions either is the same for all targets, and free for each.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from tsguard.analysis import values as py
from tsguard.analysis.budgets import DEEPEST_KEY
from tsguard.analysis.python import copies, kept_calls
from tsguard.analysis.python.keeping import Kept
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.values import Opaque

_FOR_ALL: Kept[Hashable, py.Value] = Kept()
"""What came of calls that rest on their arguments alone."""

_SEQUENCES = (py.ListValue, py.SetValue, py.TupleValue)
_SINGLE = (py.Unknown, py.Const, py.Atom, py.ClassValue, py.External)


def once(
    tracer: Tracer,
    function: py.FunctionValue,
    args: list[py.Value],
    kwargs: dict[str, py.Value],
    run: Callable[[], py.Value],
) -> py.Value:
    """What ``run`` gives, or a copy of what it gave for arguments that only where they come from tells apart."""
    given = [kept_calls.alike(value, _opaque) for value in (*args, *kwargs.values())]
    if None in given or not function.scope.is_global:
        return run()
    ways = (tracer.tries > 0, tracer.open_loops > 0, tracer.branches > 0, tracer.repeats)
    key: Hashable = (function, ways, len(args), *kwargs, *given)
    for_all, shared = _FOR_ALL.of(tracer.program), tracer.program.shared_state
    known = tracer.memory.get(key) or for_all.get((tracer.is_export, shared.version, key))
    if known is not None:
        return copies.copy(known)
    told, world, version = tracer.tellings, tracer.world, shared.version
    asks, spent = world.asks, world.spent
    made = run()
    if tracer.tellings == told and _is_of_no_input(made):
        tracer.memory.put(key, copies.copy(made))
        if world.asks == asks and version is not None and shared.version == version:
            for_all[tracer.is_export, version, key] = copies.copy(made)
            world.spent = spent  # as for those that come later
    return made


def _opaque(value: py.Value) -> object:
    """What stands for what a call gave that was not followed: the input that it comes from."""
    return (Opaque, value.is_object, value.origin.root.name) if type(value) is Opaque else None


def _is_of_no_input(value: py.Value, depth: int = 0) -> bool:
    """Whether a value holds constants, and what is not known, but nothing that comes from an input."""
    if depth > DEEPEST_KEY:
        return False
    kind = type(value)
    if isinstance(value, (py.ListValue, py.SetValue, py.TupleValue)) and kind in _SEQUENCES:
        return all(_is_of_no_input(item, depth + 1) for item in value.items)
    if isinstance(value, py.DictValue) and kind is py.DictValue:
        return all(
            _is_of_no_input(item, depth + 1) for item in (*value.items.values(), *value.untold.values())
        )
    if isinstance(value, py.ObjectValue) and kind is py.ObjectValue and value.contents is None:
        return all(_is_of_no_input(held, depth + 1) for held in value.attributes.values())
    return kind in _SINGLE
