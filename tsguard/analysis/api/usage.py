"""One file's use of torch.jit: the events of its definitions and of its statements."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tsguard.analysis.api.looks import Looks
from tsguard.analysis.api.names import ApiNames
from tsguard.analysis.events import Event
from tsguard.language.rule_names import RuleName

if TYPE_CHECKING:
    from tsguard.project.modules import Module


@dataclass(eq=False)
class Usage:
    """A file under inspection, and what was found in it."""

    names: ApiNames
    looks: Looks
    events: dict[tuple[object, ...], Event] = field(default_factory=dict)
    scripts: bool = False

    @property
    def module(self) -> Module:
        return self.names.module

    def report(self, rule: RuleName, node: ast.AST, /, **facts: str) -> None:
        """Record what a rule finds at a node."""
        event = Event(rule, self.module, self.module.file.span(node), facts)
        self.events.setdefault(event.key, event)
