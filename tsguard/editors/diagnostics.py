"""Findings as diagnostics."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types as lsp

from tsguard.editors.places import Places, uri
from tsguard.editors.reading import Reading
from tsguard.formats.tables import sentence
from tsguard.report import Finding, TargetReport
from tsguard.rules import pages

_SEVERITIES = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "info": lsp.DiagnosticSeverity.Information,
}
# More places than this say nothing more.
_MOST_RELATED = 20


def diagnostics(reading: Reading, places: Places) -> list[lsp.Diagnostic]:
    """What an editor shows in a file.

    A finding in another file that a target of this one leads to is shown at the target,
    with its own place as related information.
    """
    own = [
        _diagnostic(finding, places.of(finding), list(_targets(finding, reading, places)))
        for finding in reading.findings
    ]
    return [*own, *_from_elsewhere(reading, places)]


def _diagnostic(
    finding: Finding, range: lsp.Range, related: list[lsp.DiagnosticRelatedInformation]
) -> lsp.Diagnostic:
    help = f"\n{finding.help}" if finding.help else ""
    page = pages().get(finding.code)
    return lsp.Diagnostic(
        range=range,
        message=f"{sentence(finding)}{help}",
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        code_description=lsp.CodeDescription(page.absolute().as_uri()) if page is not None else None,
        source="tsguard",
        tags=[lsp.DiagnosticTag.Unnecessary] if finding.code == "TSG003" else None,
        related_information=related[:_MOST_RELATED] or None,
        data={"id": finding.id},
    )


def _targets(
    finding: Finding, reading: Reading, places: Places
) -> Iterator[lsp.DiagnosticRelatedInformation]:
    """The definitions from which a finding is reached, but for the one that it is in."""
    known = {target.target: target for target in reading.report.targets}
    way = f" ({' -> '.join(finding.way)})" if len(finding.chain) > 1 else ""
    for spec in finding.targets:
        target = known.get(spec)
        if target is not None:
            yield _related(places, target, f"compiled for {target.qualname}{way}")


def _related(places: Places, target: TargetReport, text: str) -> lsp.DiagnosticRelatedInformation:
    location = lsp.Location(uri(target.path), places.line(target.path, target.line))
    return lsp.DiagnosticRelatedInformation(location, text)


def _from_elsewhere(reading: Reading, places: Places) -> Iterator[lsp.Diagnostic]:
    known = {t.target: t for t in reading.report.targets if t.path == str(reading.path)}
    for finding in reading.report.findings:
        leading = [known[spec] for spec in finding.targets if spec in known]
        if finding.path == str(reading.path) or not leading:
            continue
        location = lsp.Location(uri(finding.path), places.of(finding))
        related = [lsp.DiagnosticRelatedInformation(location, " -> ".join(finding.way) or "here")]
        for target in leading:
            yield _diagnostic(finding, places.line(target.path, target.line), related)
