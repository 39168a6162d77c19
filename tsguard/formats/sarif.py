"""SARIF 2.1.0, for GitHub code scanning and other viewers.

Paths are relative and fingerprints hold no line numbers, so that an alert stays the
same alert from run to run.  Under a baseline each result tells whether it is new; what the
baseline accepts is there too, suppressed, and so is what has gone since, but for GitHub.
"""

from __future__ import annotations

import json
import os
from pathlib import PurePath
from urllib.parse import quote

from tsguard.formats import View, loaders
from tsguard.formats.repository import from_root
from tsguard.formats.tables import sentence
from tsguard.report import BaselineEntry, Cause, Finding, Fix, LoaderReport, Report
from tsguard.report.fingerprint import fingerprints
from tsguard.rules import UnknownRule, rule, split_page
from tsguard.rules.links import SITE, rule_url

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_GITHUB_SEVERITIES = {"error": "error", "warning": "warning", "info": "recommendation"}


def render(report: Report, view: View) -> str:
    """The findings as results, the verdicts and attempts as properties of the run."""
    use = report.baseline
    # GitHub takes every result for an open alert, whatever its state.
    told = use if os.environ.get("GITHUB_ACTIONS") != "true" else None
    accepted = told.accepted if told is not None else ()
    found = (*report.findings, *accepted)
    gone = told.stale if told is not None else ()
    codes = sorted({*(finding.code for finding in found), *(entry.code for entry in gone)})
    states = [*[None if use is None else "new"] * len(report.findings), *["unchanged"] * len(accepted)]
    marks = fingerprints(found, view.sources.line)
    plain = report.to_json()
    log = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "tsguard",
                        "version": report.tsguard_version,
                        "semanticVersion": report.tsguard_version,
                        "informationUri": SITE,
                        "rules": [_rule(code) for code in codes],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {
                    "SRCROOT": {"description": {"text": "The repository, or else the working folder."}}
                },
                "results": [
                    *(
                        _result(finding, codes.index(finding.code), mark, state)
                        for finding, mark, state in zip(found, marks, states, strict=True)
                    ),
                    *(_absent(entry, codes.index(entry.code)) for entry in gone),
                ],
                "invocations": [
                    {
                        "executionSuccessful": not report.errors,
                        "toolExecutionNotifications": [
                            *(
                                {"level": "error", "message": {"text": error.message}}
                                for error in report.errors
                            ),
                            *map(_of_loader, report.loaders),
                            *map(_of_cause, report.causes()),
                        ],
                    }
                ],
                "properties": {name: plain[name] for name in ("targets", "loaders")},
            }
        ],
    }
    return json.dumps(log, indent=1) + "\n"


def _of_cause(cause: Cause) -> dict[str, object]:
    """What keeps verdicts unknown."""
    text = f"unknown: {cause.why}{f'; {cause.help}' if cause.help else ''} ({', '.join(cause.targets)})"
    place: dict[str, object] = {"artifactLocation": _artifact(cause.path)}
    if cause.cell is None:
        place["region"] = {"startLine": cause.line}
    return {"level": "note", "message": {"text": text}, "locations": [{"physicalLocation": place}]}


def _of_loader(loader: LoaderReport) -> dict[str, object]:
    text = f"{loader.target}: {loaders.told(loader)}"
    return {"level": "error" if loader.error is not None else "note", "message": {"text": text}}


def _rule(code: str) -> dict[str, object]:
    try:
        page = rule(code)
    except UnknownRule:
        return {"id": code}
    _, body = split_page(page.page.read_text(encoding="utf-8"))
    return {
        "id": code,
        "name": page.name,
        "shortDescription": {"text": page.summary},
        "fullDescription": {"text": page.summary},
        "helpUri": rule_url(code),
        "help": {"text": page.help or page.summary, "markdown": body.strip()},
        "defaultConfiguration": {"level": _LEVELS[page.severity]},
        "properties": {"tags": [page.family], "problem.severity": _GITHUB_SEVERITIES[page.severity]},
    }


def _result(finding: Finding, index: int, mark: str, state: str | None) -> dict[str, object]:
    help = f"\n{finding.help}" if finding.help else ""
    cell = f"(cell {finding.cell}, line {finding.line}) " if finding.cell is not None else ""
    result: dict[str, object] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{cell}{sentence(finding)}{help}"},
        "locations": [{"physicalLocation": _location(finding)}],
        "partialFingerprints": {"tsguard/v1": mark},
        "properties": {
            "targets": list(finding.targets),
            "chain": list(finding.chain),
            "confirmed": finding.confirmed,
            "warned": finding.warned,
        },
    }
    if state is not None:
        result["baselineState"] = state
    if state == "unchanged":
        result["suppressions"] = [{"kind": "external", "justification": "accepted by the baseline"}]
    if finding.fix is not None:
        result["fixes"] = [_fix(finding.fix)]
    return result


def _absent(entry: BaselineEntry, index: int) -> dict[str, object]:
    """What was accepted once and is not found any more."""
    return {
        "ruleId": entry.code,
        "ruleIndex": index,
        "level": "none",
        "baselineState": "absent",
        "message": {"text": f"{entry.code} is not found any more"},
        "locations": [{"physicalLocation": {"artifactLocation": _artifact(entry.path)}}],
        "partialFingerprints": {"tsguard/v1": entry.fingerprint},
    }


def _fix(fix: Fix) -> dict[str, object]:
    changes: dict[str, list[object]] = {}
    for edit in fix.edits:
        region = _region(edit.line, edit.column, edit.end_line, edit.end_column)
        replacement = {"deletedRegion": region, "insertedContent": {"text": edit.content}}
        changes.setdefault(edit.path, []).append(replacement)
    return {
        "description": {"text": fix.message},
        "artifactChanges": [
            {"artifactLocation": _artifact(path), "replacements": edits} for path, edits in changes.items()
        ],
    }


def _location(finding: Finding) -> dict[str, object]:
    if finding.cell is not None:  # a line of a cell is none of the file, and GitHub wants one
        return {"artifactLocation": _artifact(finding.path), "region": {"startLine": 1}}
    region = _region(finding.line, finding.column, finding.end_line, finding.end_column)
    return {"artifactLocation": _artifact(finding.path), "region": region}


def _artifact(path: str) -> dict[str, str]:
    if PurePath(path).is_absolute():
        return {"uri": PurePath(path).as_uri()}
    inside = from_root(path, "GITHUB_WORKSPACE")
    return {"uri": quote(os.fsencode(inside)), "uriBaseId": "SRCROOT"}


def _region(line: int, column: int, end_line: int, end_column: int) -> dict[str, int]:
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}
