"""What happens to one place that outlives a call: who reads it, and who changes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tsguard.analysis.trace.walker import Walker

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


@dataclass(slots=True)
class History:
    """The statements that read a cell, and the event of one that changed it.

    ``renewed`` are the branches within which the forward has set it to something that owes nothing to
    earlier calls, none of them where it has done so on every way; None where it has not.
    ``guards`` when it was only asked whether to set attributes (``if not self.ready:``), ``used``
    when more than a branch that asks for state was told what it holds.  ``shown`` are the events that were recorded.
    """

    readers: set[int] = field(default_factory=set)
    renewed: tuple[int, ...] | None = None
    guards: bool = False
    used: bool = False
    changed: Event | None = None
    changer: int = 0
    shown: list[Event] = field(default_factory=list)

    @property
    def is_untouched(self) -> bool:
        """Whether nothing has asked for what an earlier call left."""
        return not (self.readers or self.guards)


def take_back(walker: Walker, history: History) -> None:
    """Take back what was said of a cell, which holds again what it held before the forward."""
    for event in history.shown:
        walker.drop(event)
    history.shown.clear()
    history.changed = None


def show(walker: Walker, history: History, event: Event) -> None:
    history.shown.append(event)
    walker.add(event)
