"""One line a finding: ``path:line:column: CODE message``; one a loader: ``path:name: what to do``."""

from __future__ import annotations

from tsguard.formats import View, loaders
from tsguard.formats.tables import sentence
from tsguard.report import Report


def render(report: Report, view: View) -> str:
    """The findings and what was measured of loaders, a line each."""
    measured = (f"{loader.target}: {loaders.told(loader)}\n" for loader in report.loaders)
    found = (
        f"{finding.place}: {finding.code} {view.mark(finding)}{sentence(finding)}\n"
        for finding in report.findings
    )
    return "".join((*found, *measured))
