"""GitLab's code quality report: https://docs.gitlab.com/ci/testing/code_quality/."""

from __future__ import annotations

import json

from tsguard.fingerprint import fingerprints
from tsguard.formats import View
from tsguard.formats.tables import sentence
from tsguard.report import Finding, Report

_SEVERITIES = {"error": "major", "warning": "minor", "info": "info"}


def render(report: Report, view: View) -> str:
    """The findings, an issue each."""
    marks = fingerprints(report.findings, view.sources)
    issues = [_issue(f, mark) for f, mark in zip(report.findings, marks, strict=True)]
    return json.dumps(issues, indent=1) + "\n"


def _issue(finding: Finding, mark: str) -> dict[str, object]:
    begin = {"line": finding.line, "column": finding.column}
    end = {"line": finding.end_line, "column": finding.end_column}
    cell = ""
    if finding.cell is not None:  # a line of a cell is none of the file
        cell = f"(cell {finding.cell}, line {finding.line}) "
        begin = end = {"line": 1, "column": 1}
    return {
        "check_name": finding.code,
        "description": f"{finding.code} {cell}{sentence(finding)}",
        "severity": _SEVERITIES[finding.severity],
        "fingerprint": mark,
        "location": {
            "path": finding.path,
            "positions": {"begin": begin, "end": end},
        },
    }
