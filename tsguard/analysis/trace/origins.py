"""Where a value comes from: the steps from an input to it, as the source writes them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tsguard.analysis.budgets import ORIGIN_STEPS
from tsguard.analysis.events import text_of
from tsguard.report.records import dataclass


@dataclass(frozen=True, slots=True)
class Origin:
    """An input (``name``), or an expression over what comes from inputs (``node``)."""

    name: str = ""
    node: ast.AST | None = None
    parent: Origin | None = None

    @property
    def root(self) -> Origin:
        """The input that it begins with."""
        origin = self
        while origin.parent is not None:
            origin = origin.parent
        return origin

    def then(self, node: ast.AST | None) -> Origin:
        """One step further, by an expression."""
        return self if node is None or node is self.node else Origin("", node, self)

    def path(self) -> str:
        """The steps in the words of the source: ``x -> x.nonzero() -> idx.size(0)``."""
        steps = list(dict.fromkeys(reversed(list(self._steps()))))
        if len(steps) > ORIGIN_STEPS:
            steps = [steps[0], "...", *steps[2 - ORIGIN_STEPS :]]
        return " -> ".join(steps)

    def _steps(self) -> Iterator[str]:
        origin: Origin | None = self
        last: ast.AST | None = None
        while origin is not None:
            if origin.node is None:
                yield origin.name
            elif not _within(origin.node, last):
                yield text_of(origin.node)
                last = origin.node
            origin = origin.parent


def _within(node: ast.AST, outer: ast.AST | None) -> bool:
    """Whether an expression is a part of another on the same line, which shows it already."""
    if outer is None or getattr(node, "lineno", 0) != getattr(outer, "lineno", 0):
        return False
    return bool(outer.col_offset <= node.col_offset and _end(node) <= _end(outer))  # type: ignore[attr-defined]


def _end(node: ast.AST) -> tuple[int, int]:
    return (getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0))
