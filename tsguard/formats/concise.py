"""One line a finding: ``path:line:column: CODE message``."""

from __future__ import annotations

from tsguard.formats import View
from tsguard.formats.tables import sentence
from tsguard.report import Report


def render(report: Report, view: View) -> str:
    """The findings, a line each."""
    return "".join(
        f"{finding.place}: {finding.code} {view.mark(finding)}{sentence(finding)}\n"
        for finding in report.findings
    )
