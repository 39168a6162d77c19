"""JUnit XML: each finding and each attempt is a test case, so is each target without either."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.etree import ElementTree as xml

from tsguard.formats import View, loaders
from tsguard.formats.tables import said, sentence, why
from tsguard.report import Attempt, Finding, LoaderReport, Report, TargetReport

_FAILED = ("failed", "diverged", "timeout", "crashed")
# Characters that XML 1.0 cannot hold, not even escaped.
_FORBIDDEN = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 0xFFFE, 0xFFFF), "\ufffd")


def render(report: Report, view: View) -> str:
    """A suite for each file, and one for what could not be done."""
    root = xml.Element("testsuites", name="tsguard")
    files: dict[str, _File] = {}
    for finding in report.findings:
        files.setdefault(finding.path, _File()).findings.append(finding)
    for target in report.targets:
        files.setdefault(target.path, _File()).targets.append(target)
    for path in sorted(files):
        _suite(root, path, list(_cases(path, files[path])))
    for loader in report.loaders:
        _suite(root, loader.target, list(_of_loader(loader)))
    if report.errors:
        _suite(root, "tsguard", [_case("tsguard", "run", "error", error.message) for error in report.errors])
    xml.indent(root)
    return f"<?xml version='1.0' encoding='utf-8'?>\n{xml.tostring(root, encoding='unicode')}\n"


@dataclass(slots=True)
class _File:
    """What a report holds of one file."""

    findings: list[Finding] = field(default_factory=list)
    targets: list[TargetReport] = field(default_factory=list)


def _cases(path: str, file: _File) -> Iterator[xml.Element]:
    for finding in file.findings:
        name = f"{finding.code}:{finding.place.removeprefix(path).lstrip(':')}"
        kind = "" if finding.severity == "info" else finding.severity
        yield _case(path, name, kind, sentence(finding), _detail(finding))
    named = {target for finding in file.findings for target in finding.targets}
    for target in file.targets:
        if target.not_attempted is not None:
            yield _skipped(path, target.target, f"not attempted: {target.not_attempted}")
        elif target.target not in named and not target.attempts:
            yield _case(path, target.target)
        yield from (_attempt(target, attempt) for attempt in target.attempts)


def _of_loader(loader: LoaderReport) -> Iterator[xml.Element]:
    """The whole measurement and each number of workers, a test case each."""
    kind = "error" if loader.error is not None else ""
    lines = [loaders.told(loader), *(f"collate, {a.backend}: {why(a) or a.status}" for a in loader.collating)]
    yield _case(loader.target, "loader", kind, lines[0], "\n".join(lines))
    for row in loader.throughput:
        name, rate, *_ = (cell.text for cell in loaders.throughput_row(row, loader))
        broken = row.status if row.status in _FAILED else ""
        outcome = said(row.error) if row.error is not None else f"{rate} items/s"
        if row.status == "skipped":
            yield _skipped(loader.target, f"{name} workers", "not tried")
        else:
            yield _case(loader.target, f"{name} workers", broken, outcome, outcome)


def _attempt(target: TargetReport, attempt: Attempt) -> xml.Element:
    where = " ".join(filter(None, (attempt.device, attempt.mode, attempt.dtype)))
    name = f"{target.target} {attempt.backend} {where} {attempt.passes}"
    if attempt.status == "skipped":
        return _skipped(target.path, name, attempt.note or "")
    if attempt.status not in _FAILED:
        return _case(target.path, name)
    detail = attempt.error.message if attempt.error else ""
    return _case(target.path, name, attempt.status, why(attempt) or attempt.status, detail)


def _skipped(path: str, name: str, why: str) -> xml.Element:
    case = _case(path, name)
    xml.SubElement(case, "skipped", message=_clean(why))
    return case


def _detail(finding: Finding) -> str:
    lines = [
        f"{finding.place}: {finding.code} {sentence(finding)}",
        f"reached: {' -> '.join(finding.way)}" if finding.chain else "",
        f"help: {finding.help}" if finding.help else "",
    ]
    return "\n".join(line for line in lines if line)


def _case(path: str, name: str, kind: str = "", message: str = "", detail: str = "") -> xml.Element:
    case = xml.Element("testcase", name=_clean(name), classname=_clean(path))
    holder = xml.SubElement(case, "failure", type=kind, message=_clean(message)) if kind else None
    if holder is None and detail:
        holder = xml.SubElement(case, "system-out")
    if holder is not None:
        holder.text = _clean(detail)
    return case


def _suite(root: xml.Element, name: str, cases: list[xml.Element]) -> None:
    failures = sum(case.find("failure") is not None for case in cases)
    skipped = sum(case.find("skipped") is not None for case in cases)
    suite = xml.SubElement(
        root,
        "testsuite",
        name=_clean(name),
        tests=str(len(cases)),
        failures=str(failures),
        errors="0",
        skipped=str(skipped),
    )
    suite.extend(cases)


def _clean(text: str) -> str:
    return text.translate(_FORBIDDEN)
