"""Objects of the standard library that are another at every call: generators of random numbers, counters, queues.

Source: Python's documentation of ``random``, ``collections``, ``itertools`` and ``queue``.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.trace.values import Traced, parts

if TYPE_CHECKING:
    from tsguard.analysis.trace.context import Tracer

RANDOM: frozenset[str] = frozenset({"random.Random", "random.SystemRandom"})
_HOLDING = frozenset(
    f"{module}.{name}"
    for module, names in {
        "collections": ("ChainMap", "Counter", "deque"),
        "itertools": ("count", "cycle"),
        "queue": ("LifoQueue", "PriorityQueue", "Queue", "SimpleQueue"),
    }.items()
    for name in names
)


def method(owner: py.Value, name: str) -> py.BoundMethod | None:
    """A method of a generator of random numbers."""
    cls = _class(owner)
    return py.BoundMethod(py.External(f"{cls}.{name}"), owner) if cls in RANDOM else None


def asked(tracer: Tracer, owner: py.Value, found: py.Value | None) -> None:
    """Note that what an object gives is not followed; a method that is called for what it does gives nothing."""
    cls = _class(owner)
    is_used = not isinstance(tracer.statement, ast.Expr)
    if cls in _HOLDING and is_used and (found is None or isinstance(found, py.Unknown)):
        tracer.gap(tracer.node, f"what an object of {cls} holds is not followed")


def advanced(
    tracer: Tracer, args: list[py.Value], kwargs: dict[str, py.Value], node: ast.AST
) -> py.Value | None:
    """``next(counter)``; Python's own way does.  What the module holds is further on for the next call."""
    for owner in args[:1]:
        asked(tracer, owner, None)
        tracer.state.mutate(tracer, owner)
    return None


def shuffled(
    tracer: Tracer, args: list[py.Value], kwargs: dict[str, py.Value], node: ast.AST
) -> py.Value | None:
    """Note that the order that ``random.shuffle(items)`` leaves them in is not followed."""
    if any(not isinstance(given, py.ListValue) or len(given.items) > 1 for given in args):
        tracer.gap(node, "the order that random.shuffle leaves is not followed")
    return None


def _class(owner: py.Value) -> str:
    cls = owner.cls if isinstance(owner, py.ObjectValue) else None
    return cls.name if isinstance(cls, py.External) else ""


def handed(tracer: Tracer, called: str, given: list[py.Value], node: ast.AST | None) -> None:
    """Note that a function of the project, or a tensor, is given to code that is not read and whose result is used."""
    is_used = not isinstance(tracer.statement, ast.Expr) and not called.startswith(_HARMLESS)
    if is_used and any(isinstance(part, Traced) and not part.sizes_only for part in parts(given)):
        tracer.gap(node, f"the source does not tell what {called} makes of a tensor")
    handed_function(tracer, called, given, node)


def handed_function(tracer: Tracer, called: str, given: list[py.Value], node: ast.AST | None) -> None:
    """Note that a function of the project is given to code that is not read and whose result is used."""
    is_used = not isinstance(tracer.statement, ast.Expr) and not called.startswith(_HARMLESS)
    if is_used and any(isinstance(_behind(part), py.FunctionValue) for part in parts(given)):
        tracer.gap(node, f"the source does not tell what {called} makes of a function")


def _behind(value: py.Value) -> py.Value:
    """The function that a method or a partial call runs."""
    while isinstance(value, (py.BoundMethod, py.Partial)):
        value = value.function
    return value


# What says something of its arguments, asks about them, or passes them through, and computes nothing.
_HARMLESS = ("contextlib.", "functools.", "inspect.", "logging.", "types.", "typing.", "warnings.")
