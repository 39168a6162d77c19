"""Objects of the standard library that are another at every call: generators of random numbers, counters, queues.

Source: Python's documentation of ``random``, ``collections``, ``itertools`` and ``queue``.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.analysis import values as py

if TYPE_CHECKING:
    from tsguard.analysis.trace.context import Tracer

RANDOM = frozenset({"random.Random", "random.SystemRandom"})
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
        tracer.gap(tracer.node, f"what is in a {cls} is not followed")


def advanced(
    tracer: Tracer, args: list[py.Value], kwargs: dict[str, py.Value], node: ast.AST
) -> py.Value | None:
    """``next(counter)``; Python's own way does."""
    for owner in args[:1]:
        asked(tracer, owner, None)
    return None


def _class(owner: py.Value) -> str:
    cls = owner.cls if isinstance(owner, py.ObjectValue) else None
    return cls.name if isinstance(cls, py.External) else ""
