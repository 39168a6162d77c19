"""From what was found file by file to one report: merge, suppress, number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tsguard.inspection.inspecting import Inspection, tool_finding
from tsguard.report import SEVERITIES, Finding, TargetReport
from tsguard.report.records import replace
from tsguard.rules import FAMILIES, covers, pages
from tsguard.source.sources import Sources
from tsguard.source.suppressions import Suppression, suppressions

_FAMILIES = ("script", "trace", "mode")
_NUMBERED = (*_FAMILIES, "export")
# What these hide is found by attempts, or only where export is asked for.
NOT_ALWAYS_FOUND = ("TSG9", "TSG6", "TSG7")
# Stands for every line of a file.
_WHOLE_FILE = 0


def merge(findings: Iterable[Finding]) -> list[Finding]:
    """Findings of several targets at one place become one, in the order of their places.

    The merged finding names all the targets; it is told as for the one nearest to the place,
    by the shortest chain.
    """
    alike: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        # What a trace bakes at a place is one thing, whichever target's inputs it comes from.
        said = "" if finding.family == "trace" else finding.message
        key = (finding.path, finding.line, finding.column, finding.code, said, finding.when)
        alike.setdefault(key, []).append(finding)
    return sorted(map(_joined, alike.values()), key=_place)


def condensed(inspection: Inspection) -> Inspection:
    """The same with the findings of all targets merged: those of a large package are told of many targets each."""
    merged = merge(finding for target in inspection.targets for finding in target.findings)
    targets = tuple([replace(target, findings=()) for target in inspection.targets])
    return replace(inspection, targets=targets, merged=(*inspection.merged, *merged))


def suppress(
    findings: Sequence[Finding], inspections: Sequence[Inspection], sources: Sources
) -> list[Finding]:
    """The findings that no comment hides, and those of comments that hide nothing."""
    concerned = {finding.path for finding in findings}
    paths = concerned.union(inspection.shown for inspection in inspections)
    # Other tools' comments matter only where there is something that they could hide.
    comments = {path: suppressions(sources.file(path), ours_only=path not in concerned) for path in paths}
    by_line = {path: _by_line(found) for path, found in comments.items()}
    used: dict[tuple[str, Suppression], set[str]] = {}
    kept = []
    for finding in findings:
        near = by_line[finding.path]
        lines = {_WHOLE_FILE, finding.line, finding.end_line}
        hiding = [c for line in lines for c in near.get(line, ()) if hides(c, finding)]
        for comment in hiding:
            used.setdefault((finding.path, comment), set()).add(finding.code)
        if not hiding:
            kept.append(finding)
    for inspection in inspections:
        for comment in comments[inspection.shown]:
            unused = _unused(comment, used.get((inspection.shown, comment), set()), inspection)
            kept += [_repaired(found, comment, code, sources) for found, code in unused]
    return sorted(kept, key=_place)


def _by_line(comments: Iterable[Suppression]) -> dict[int, list[Suppression]]:
    lines: dict[int, list[Suppression]] = {}
    for comment in comments:
        lines.setdefault(_WHOLE_FILE if comment.whole_file else comment.span.line, []).append(comment)
    return lines


def number(
    findings: Sequence[Finding], targets: Iterable[TargetReport]
) -> tuple[tuple[Finding, ...], tuple[TargetReport, ...]]:
    """Findings with their ids, and targets that refer to them."""
    numbered = tuple(replace(finding, id=i) for i, finding in enumerate(findings))
    ids: dict[tuple[str, str], list[int]] = {}
    for finding in numbered:
        for target in finding.targets:
            ids.setdefault((target, finding.family), []).append(finding.id)

    def refer(target: TargetReport) -> TargetReport:
        script, trace, mode, export = (tuple(ids.get((target.target, name), ())) for name in _NUMBERED)
        return replace(
            target,
            script=replace(target.script, findings=script),
            trace=replace(target.trace, findings=trace),
            mode=replace(target.mode, findings=mode),
            export=replace(target.export, findings=export),
        )

    return numbered, tuple(refer(target) for target in targets)


def _place(finding: Finding) -> tuple[str, int, int, str, str, str]:
    return (finding.path, finding.line, finding.column, finding.code, finding.message, finding.when or "")


def _joined(alike: Sequence[Finding]) -> Finding:
    told = min(alike, key=_distance)
    targets = {target for finding in alike for target in finding.targets}
    # A place that needs one repair for one target and another for the next has none.
    fix = told.fix if all(finding.fix == told.fix for finding in alike) else None
    return replace(told, targets=tuple(sorted(targets)), fix=fix)


def _distance(finding: Finding) -> tuple[int, int, tuple[str, ...], int, str]:
    """The order in which findings of one place are told: the gravest, then that of the nearest target."""
    mildness = -SEVERITIES.index(finding.severity)
    return (mildness, len(finding.chain), finding.chain, len(finding.message), finding.message)


def hides(comment: Suppression, finding: Finding) -> bool:
    """Whether a comment in the finding's file suppresses it."""
    if not comment.covers(finding.line, finding.end_line):
        return False
    return comment.codes is None or any(_names(written, finding) for written in comment.codes)


def _names(written: str, finding: Finding) -> bool:
    return covers(written.upper(), finding.code) or finding.name == written


def _unused(
    comment: Suppression, used: set[str], inspection: Inspection
) -> Iterable[tuple[Finding, str | None]]:
    """What is to be said of a comment, silent where it may serve a target that was not judged.

    With each finding comes the code that it is about, None for the whole comment.
    """
    if not comment.codes:
        if not used and not comment.foreign and _judged(comment, _FAMILIES, inspection):
            yield _finding(comment, "it hides nothing", "the comment", inspection), None
        return
    for written in comment.codes:
        code = _code(written)
        if code is None:
            if not comment.foreign or written.upper().startswith("TSG"):
                yield _finding(comment, f"there is no rule {written}", written, inspection), written
        elif not code.startswith(NOT_ALWAYS_FOUND) and not any(covers(code, hidden) for hidden in used):
            family = FAMILIES.get(code[:4], "")
            families = (family,) if family in _FAMILIES else _FAMILIES
            if _judged(comment, families, inspection):
                yield _finding(comment, f"{written} is not found here", written, inspection), written


def _repaired(found: Finding, comment: Suppression, code: str | None, sources: Sources) -> Finding:
    from tsguard.fixes.comments import unsuppress

    return replace(found, fix=unsuppress(sources.file(found.path), comment, code))


def _code(written: str) -> str | None:
    """The code, or beginning of codes, that a suppression names; None if no rule has it."""
    upper = written.upper()
    for code, page in pages().items():
        if page.stem.partition("-")[2] == written:
            return code
        if upper and covers(upper, code):
            return upper
    return None


def _judged(comment: Suppression, families: Iterable[str], inspection: Inspection) -> bool:
    """Whether the verdicts on all targets that the comment lies in are known, and there is one."""
    line = comment.span.line
    around = [
        target.report
        for target in inspection.targets
        if comment.whole_file or target.report.line <= line <= target.end_line
    ]
    return (
        inspection.whole
        and bool(around)
        and all(getattr(report, family).verdict != "unknown" for report in around for family in families)
    )


def _finding(comment: Suppression, reason: str, what: str, inspection: Inspection) -> Finding:
    return tool_finding("TSG003", inspection.shown, comment.span, reason=reason, what=what)
