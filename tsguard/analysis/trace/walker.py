"""What state asks of who follows a forward."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Protocol

from tsguard.analysis.python.following import Frame
from tsguard.analysis.trace.origins import Origin
from tsguard.language.rule_names import RuleName

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


class Walker(Protocol):
    """What is asked of who follows the forward: the statement that runs and those around it, and to report."""

    statement: ast.AST | None
    enclosing: list[ast.AST | None]
    frames: list[Frame]

    def event(
        self, rule: RuleName, node: ast.AST | None, origin: Origin | None = None, **facts: str
    ) -> Event | None:
        """An event as it would be recorded; None where no place in a source stands for it."""

    def add(self, event: Event) -> None:
        """Record an event."""

    def drop(self, event: Event) -> None:
        """Take back an event that was recorded."""
