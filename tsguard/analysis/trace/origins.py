"""Where a value comes from: the steps from an input to it, as the source writes them."""

from __future__ import annotations

import ast
from typing import NamedTuple

from tsguard.analysis.budgets import ORIGIN_STEPS
from tsguard.analysis.events import text_of
from tsguard.report.records import dataclass
from tsguard.source.remembering import remembered


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
        steps = list(dict.fromkeys(reversed(self._steps())))
        if len(steps) > ORIGIN_STEPS:
            steps = [steps[0], "...", *steps[2 - ORIGIN_STEPS :]]
        return " -> ".join(steps)

    def _steps(self) -> list[str]:
        """From here back to the input; deep networks have chains of thousands."""
        steps: list[str] = []
        origin: Origin | None = self
        last: _Place | None = None
        while origin is not None:
            if origin.node is None:
                steps.append(origin.name)
            else:
                place = _place(origin.node)
                if last is None or not _is_within(place, last):
                    steps.append(_written(origin.node))
                    last = place
            origin = origin.parent
        return steps


class _Place(NamedTuple):
    """Where an expression begins and ends."""

    line: int
    column: int
    end: tuple[int, int]


def _is_within(part: _Place, outer: _Place) -> bool:
    """Whether an expression is a part of another on the same line, which shows it already."""
    return part.line == outer.line and outer.column <= part.column and part.end <= outer.end


@remembered(1 << 15)
def _place(node: ast.AST) -> _Place:
    end = (getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0))
    return _Place(getattr(node, "lineno", 0), getattr(node, "col_offset", 0), end)


@remembered(1 << 15)
def _written(node: ast.AST) -> str:
    return text_of(node)
