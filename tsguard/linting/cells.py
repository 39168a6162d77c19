"""Places in notebooks, from lines of the text that was judged to lines of cells."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from tsguard.report import Finding, TargetReport, Unknown
from tsguard.report.records import replace
from tsguard.source.sources import Sources
from tsguard.source.text import is_notebook

_Placed = TypeVar("_Placed", TargetReport, Unknown)


def findings_in_cells(findings: Iterable[Finding], sources: Sources) -> list[Finding]:
    """The findings, those in notebooks by their cells; these have no fix, which would change text, not cells."""
    return [_of_finding(finding, sources) for finding in findings]


def target_in_cell(target: TargetReport, sources: Sources) -> TargetReport:
    """A target, placed by its cell if it lies in a notebook, and so are the places that keep it unknown."""
    script, trace, mode, export = (
        tuple(_of_place(place, sources) for place in judgement.unknown)
        for judgement in (target.script, target.trace, target.mode, target.export)
    )
    return replace(
        _of_place(target, sources),
        script=replace(target.script, unknown=script),
        trace=replace(target.trace, unknown=trace),
        mode=replace(target.mode, unknown=mode),
        export=replace(target.export, unknown=export),
    )


def _of_finding(finding: Finding, sources: Sources) -> Finding:
    if not is_notebook(finding.path):
        return finding
    cell = sources.file(finding.path).cell_at(finding.line)
    if cell is None:
        return replace(finding, fix=None)
    above = cell.line - 1
    return replace(
        finding, cell=cell.number, line=finding.line - above, end_line=finding.end_line - above, fix=None
    )


def _of_place(place: _Placed, sources: Sources) -> _Placed:
    cell = sources.file(place.path).cell_at(place.line) if is_notebook(place.path) else None
    return place if cell is None else replace(place, cell=cell.number, line=place.line - cell.line + 1)
