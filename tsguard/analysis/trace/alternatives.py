"""Code that is another while tracing: whether there is a reason for it.

Who asks ``torch.jit.is_tracing()``, or whether a size is a tensor, mostly has a trace in
mind: the side of eager does what no trace could follow (a cache, ``math.ceil`` of a size),
and the side for tracing computes the same otherwise.  Where the side of eager could be
traced as it is, nothing is gained by another one, and the two differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tsguard.analysis.budgets import ASIDE_STEPS
from tsguard.analysis.python.context import Raised
from tsguard.analysis.trace.context import LocalBudgetExceeded, Tracer
from tsguard.analysis.trace.rulebook import is_note
from tsguard.report.records import replace

if TYPE_CHECKING:
    from tsguard.analysis.values import Scope


def could_be_traced(tracer: Tracer, side: Callable[[], object], scope: Scope) -> bool:
    """Whether tracing the side of eager would have gone well; the walk is left as it was."""
    names, events, exports = dict(scope.names), dict(tracer.events), tracer.exports.keys()
    try:
        with undone(tracer):
            side()
            return all(is_note(event.rule) for key, event in tracer.events.items() if key not in events)
    except Raised:
        return False
    finally:
        tracer.exports.back_to(exports)
        scope.names.clear()
        scope.names.update(names)


def followed_aside(tracer: Tracer, run: Callable[[], object]) -> None:
    """Follow for torch.export what a trace takes as it is compiled; the walk is left as it was.

    Raises:
        Raised: compiled code raises as Python does.
    """
    exports = tracer.exports.keys()
    try:
        with undone(tracer), tracer.allowed(ASIDE_STEPS):
            run()
    except Raised:
        tracer.exports.back_to(exports)
        raise
    except LocalBudgetExceeded:
        return


@contextmanager
def undone(tracer: Tracer) -> Iterator[None]:
    """What is recorded meanwhile is forgotten, but for what it means for torch.export."""
    facts = tracer.facts.copy()
    events, parts = dict(tracer.events), dict(tracer.parts)
    gaps, outputs, histories = list(tracer.gaps), list(tracer.outputs), tracer.state.histories
    written = dict(tracer.written)
    returned = [list(frame.returned) for frame in tracer.frames]
    tracer.state.histories = {cell: replace(h, readers=set(h.readers)) for cell, h in histories.items()}
    try:
        yield
    finally:
        tracer.events, tracer.parts, tracer.gaps, tracer.outputs = events, parts, gaps, outputs
        tracer.state.histories, tracer.facts, tracer.written = histories, facts, written
        for frame, values in zip(tracer.frames, returned, strict=True):
            frame.returned[:] = values
