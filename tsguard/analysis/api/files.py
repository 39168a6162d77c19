"""One file: whether importing it fails, and what it does wrong with torch.jit."""

from __future__ import annotations

from tsguard.analysis.api import definitions
from tsguard.analysis.api.flow import StatementFlow
from tsguard.analysis.api.looks import Looks
from tsguard.analysis.api.names import Names
from tsguard.analysis.api.usage import Usage
from tsguard.analysis.events import Event
from tsguard.analysis.python import Program
from tsguard.project.modules import Module


def import_failure(program: Program, module: Module) -> Event | None:
    """The first thing in a file, as far as this package looks, for which importing the file raises."""
    key = (import_failure, module)
    if key not in program.memory:
        usage = Usage(Names(program, module), Looks(program, module))
        if "jit" in module.file.text:
            definitions.check_import(usage)
        events = usage.events.values()
        program.memory[key] = min(events, key=lambda event: event.span.line, default=None)
    found = program.memory[key]
    return found if isinstance(found, Event) else None


def events_in(program: Program, module: Module) -> tuple[Event, ...]:
    """What a file does wrong with torch.jit, in no particular order."""
    if "jit" not in module.file.text:
        return ()
    usage = Usage(Names(program, module), Looks(program, module))
    definitions.check(usage)
    flow = StatementFlow(usage)
    flow.run(module.file.tree.body)
    flow.finish()
    return tuple(usage.events.values())
