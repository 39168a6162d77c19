"""The way to torch.export as one HTML file, which needs no other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tsguard.formats import View
from tsguard.formats.migration import HEAD, reasons, step_row, stepped, summary, unread
from tsguard.formats.tables import Cell
from tsguard.report import Finding, Report
from tsguard.report.records import dataclass

if TYPE_CHECKING:
    from jinja2 import Template


@dataclass(frozen=True, slots=True)
class _Row:
    """A target in the order to go: its cells, and what stands in its ways."""

    id: str
    number: int
    target: str
    cells: Sequence[Cell]
    reasons: Sequence[tuple[str, str]]
    parts: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Use:
    """A name of torch.jit, what takes its place, and where it is used."""

    name: str
    successor: str
    places: Sequence[str]


def render(report: Report, view: View) -> str:
    """The targets in the order to go, what they meet, and the uses of torch.jit."""
    folder = Path(__file__).parent
    migration = report.migration
    findings = report.findings
    return _template().render(
        report=report,
        view=view,
        head=HEAD[1:],
        summary=summary(report),
        unread=unread(report),
        rows=list(_rows(report)),
        common=[f for n in (migration.obstacles if migration else ()) if len((f := findings[n]).targets) > 1],
        uses=[
            _Use(use.name, use.successor, [_place(findings[n]) for n in use.findings])
            for use in (migration.uses if migration else ())
        ],
        place=_place,
        style=(folder / "report.css").read_text(encoding="utf-8"),
        script=(folder / "report.js").read_text(encoding="utf-8"),
    )


def _rows(report: Report) -> Iterator[_Row]:
    for number, (step, target) in enumerate(stepped(report), 1):
        _, name, *cells = step_row(number, step, report)
        told = list(dict.fromkeys(reasons(step, target, report)))
        yield _Row(f"target-{number}", number, name.text, cells, told, step.parts)


def _place(finding: Finding) -> str:
    return finding.place.rpartition(":")[0]


@cache
def _template() -> Template:
    from tsguard.formats.html import environment

    path = Path(__file__).with_name("migration.html.jinja")
    return environment().from_string(path.read_text(encoding="utf-8"))
