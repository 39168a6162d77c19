"""What judges ask of a file's use of torch.jit.

Most files do not mention it: what looks at those that do is not imported for others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsguard.analysis.events import Event
from tsguard.analysis.python.keeping import Kept
from tsguard.project.modules import Module

if TYPE_CHECKING:
    from tsguard.analysis.python import Program


_FAILURES: Kept[Module, Event | None] = Kept()


def import_failure(program: Program, module: Module) -> Event | None:
    """The first thing in a file, as far as this package looks, for which importing the file raises."""
    if not _is_concerned(module):
        return None
    known = _FAILURES.of(program)
    if module not in known:
        from tsguard.analysis.api.files import import_events

        events = import_events(program, module)
        known[module] = min(events, key=lambda event: event.span.line, default=None)
    return known[module]


def events_in(program: Program, module: Module) -> tuple[Event, ...]:
    """What a file does wrong with torch.jit, in no particular order."""
    if not _is_concerned(module):
        return ()
    from tsguard.analysis.api.files import all_events

    return all_events(program, module)


def _is_concerned(module: Module) -> bool:
    return "jit" in module.file.text
