"""One file's use of torch.jit: the events of its definitions and of its statements."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tsguard.analysis.api import definitions
from tsguard.analysis.api.flow import Flow
from tsguard.analysis.api.looks import Looks
from tsguard.analysis.api.names import Names
from tsguard.analysis.events import Event

if TYPE_CHECKING:
    from tsguard.analysis.python import Program
    from tsguard.project.modules import Module


@dataclass(eq=False)
class Usage:
    """A file under inspection, and what was found in it."""

    names: Names
    looks: Looks
    events: dict[tuple[object, ...], Event] = field(default_factory=dict)
    scripts: bool = False

    @property
    def module(self) -> Module:
        return self.names.module

    def report(self, rule: str, node: ast.AST, /, **facts: str) -> None:
        """Record what a rule finds at a node."""
        event = Event(rule, self.module, self.module.file.span(node), facts)
        self.events.setdefault(event.key, event)


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
    flow = Flow(usage)
    flow.run(module.file.tree.body)
    flow.finish()
    return tuple(usage.events.values())
