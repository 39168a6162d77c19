"""Workflow commands that GitHub Actions shows as annotations on the changed lines."""

from __future__ import annotations

from tsguard.formats import View, loaders
from tsguard.formats.repository import from_root
from tsguard.formats.tables import sentence
from tsguard.report import Finding, LoaderReport, Report

_LEVELS = {"error": "error", "warning": "warning", "info": "notice"}


def render(report: Report, view: View) -> str:
    """The findings and what was measured of loaders, an annotation each."""
    found = (*map(_annotation, report.findings), *map(_of_loader, report.loaders))
    return "".join(f"{annotation}\n" for annotation in found)


def _of_loader(loader: LoaderReport) -> str:
    level = "error" if loader.error is not None else "notice"
    place = f"title=tsguard loader,file={_property(_from_root(loaders.path(loader)))}"
    details = f"\n{loaders.rates(loader)}" if loader.throughput else ""
    return f"::{level} {place}::{_data(f'{loader.target}: {loaders.told(loader)}{details}')}"


def _annotation(finding: Finding) -> str:
    properties: dict[str, str | int] = {
        "title": f"tsguard ({finding.code})",
        "file": _from_root(finding.path),
    }
    if finding.cell is None:  # a line of a cell is none of the file
        properties |= {
            "line": finding.line,
            "col": finding.column,
            "endLine": finding.end_line,
            "endColumn": finding.end_column,
        }
    listed = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    help = f"\nhelp: {finding.help}" if finding.help else ""
    text = _data(f"{finding.place}: {finding.code} {sentence(finding)}{help}")
    return f"::{_LEVELS[finding.severity]} {listed}::{text}"


def _from_root(path: str) -> str:
    return from_root(path, "GITHUB_WORKSPACE")


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
