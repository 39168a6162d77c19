"""One file that uses torch.jit: what makes importing it fail, and what it does wrong."""

from __future__ import annotations

from tsguard.analysis.api import definitions
from tsguard.analysis.api.flow import StatementFlow
from tsguard.analysis.api.looks import Looks
from tsguard.analysis.api.names import ApiNames
from tsguard.analysis.api.usage import Usage
from tsguard.analysis.events import Event
from tsguard.analysis.python import Program
from tsguard.project.modules import Module


def import_events(program: Program, module: Module) -> tuple[Event, ...]:
    """What a file does for which importing it raises, as far as this package looks."""
    usage = Usage(ApiNames(program, module), Looks(program, module))
    definitions.check_import(usage)
    return tuple(usage.events.values())


def all_events(program: Program, module: Module) -> tuple[Event, ...]:
    """What a file does wrong with torch.jit, in no particular order."""
    usage = Usage(ApiNames(program, module), Looks(program, module))
    definitions.check(usage)
    flow = StatementFlow(usage)
    flow.run(module.file.tree.body)
    flow.finish()
    return tuple(usage.events.values())
