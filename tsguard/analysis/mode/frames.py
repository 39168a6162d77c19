"""Where the walk is: places in the source, and the functions that run."""

from __future__ import annotations

import ast
from dataclasses import field

from tsguard.analysis.values import FunctionNode, ModuleValue, Value
from tsguard.project.modules import Module
from tsguard.report.records import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A piece of a module's source."""

    module: Module
    node: ast.AST


@dataclass(eq=False, slots=True)
class Frame:
    """A function that runs: where it was called, on which module, what its early returns gave."""

    function: FunctionNode
    label: str
    module: Module
    called: Place | None = None
    receiver: ModuleValue | None = None
    returned: list[Value] = field(default_factory=list)
