"""GitLab's code quality report: https://docs.gitlab.com/ci/testing/code_quality/."""

from __future__ import annotations

import json
from hashlib import blake2b

from tsguard.formats import View, loaders
from tsguard.formats.repository import from_root
from tsguard.formats.tables import sentence
from tsguard.report import Finding, LoaderReport, Report
from tsguard.report.fingerprint import fingerprints

_SEVERITIES = {"error": "major", "warning": "minor", "info": "info"}


def render(report: Report, view: View) -> str:
    """The findings and what was measured of loaders, an issue each."""
    marks = fingerprints(report.findings, view.sources.line)
    issues = [_issue(f, mark) for f, mark in zip(report.findings, marks, strict=True)]
    issues += map(_of_loader, report.loaders)
    return json.dumps(issues, indent=1) + "\n"


def _of_loader(loader: LoaderReport) -> dict[str, object]:
    start = {"line": 1, "column": 1}
    return {
        "check_name": "loader",
        "description": f"{loader.target}: {loaders.told(loader)}",
        "severity": "major" if loader.error is not None else "info",
        "fingerprint": blake2b(f"loader\0{loader.target}".encode(), digest_size=16).hexdigest(),
        "location": {"path": _from_root(loaders.path(loader)), "positions": {"begin": start, "end": start}},
    }


def _from_root(path: str) -> str:
    return from_root(path, "CI_PROJECT_DIR")


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
            "path": _from_root(finding.path),
            "positions": {"begin": begin, "end": end},
        },
    }
