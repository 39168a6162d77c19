"""Generator functions that are context managers: where they wait while the body of a ``with`` statement runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tsguard.analysis.python.context import Signal
from tsguard.analysis.values import IteratorValue, Value

Body = Callable[[Value], Signal]


@dataclass(eq=False, slots=True)
class Suspended(IteratorValue):
    """Where a generator function that is a context manager waits, while the body runs."""

    body: Body | None = None
    signal: Signal = None

    def enter(self, value: Value) -> None:
        """Run the body, once."""
        body, self.body = self.body, None
        if body is not None:
            self.signal = body(value)
