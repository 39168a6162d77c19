"""Questions that the source does not answer, "is it None?": the walk goes on as if it were not, and looks at the other side."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.budgets import ASIDE_STEPS
from tsguard.analysis.events import text_of
from tsguard.analysis.python.context import Raised
from tsguard.analysis.trace.alternatives import undone
from tsguard.analysis.trace.context import LocalBudgetExceeded, Tracer
from tsguard.analysis.trace.rulebook import is_note

if TYPE_CHECKING:
    from tsguard.analysis.values import Scope


def looked_at(
    tracer: Tracer, value: py.Value, node: ast.expr, other: Callable[[], object], scope: Scope
) -> None:
    """Note that a verdict rests on what is not told, where the ``other`` side would make it another."""
    if not isinstance(value, py.Untold) or tracer.is_aside:
        return
    if _goes_wrong(tracer, other, scope):
        tracer.gap(node, f'the source does not tell whether "{text_of(node)}", which decides what follows')


def _goes_wrong(tracer: Tracer, side: Callable[[], object], scope: Scope) -> bool:
    """Whether a side does what a trace cannot follow; the walk is left as it was."""
    names, events, exports = dict(scope.names), set(tracer.events), tracer.exports.keys()
    tracer.is_aside = True
    try:
        with undone(tracer), _unchanged(scope), tracer.branching(), tracer.allowed(ASIDE_STEPS):
            side()
            return any(not is_note(event.rule) for key, event in tracer.events.items() if key not in events)
    except (Raised, LocalBudgetExceeded):
        return False
    finally:
        tracer.is_aside = False
        tracer.exports.back_to(exports)
        scope.names.clear()
        scope.names.update(names)


@contextmanager
def _unchanged(scope: Scope) -> Iterator[None]:
    """What the names of a function hold has its items and attributes again afterwards."""
    held = list(scope.names.values())
    objects = [(value, dict(value.attributes)) for value in held if isinstance(value, py.ObjectValue)]
    held += [item for _, attributes in objects for item in attributes.values()]
    lists = [(v, list(v.items), v.open) for v in held if isinstance(v, (py.ListValue, py.SetValue))]
    dicts = [(v, dict(v.items), v.open) for v in held if isinstance(v, py.DictValue)]
    try:
        yield
    finally:
        for owner, attributes in objects:
            owner.attributes.clear()
            owner.attributes.update(attributes)
        for container, items, is_open in lists:
            container.items[:], container.open = items, is_open
        for table, entries, is_open in dicts:
            table.items.clear()
            table.items.update(entries)
            table.open = is_open
