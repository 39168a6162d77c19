"""The way to torch.export, made of a report for "migration"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from tsguard.linting.assembly import number
from tsguard.migration.ordering import leaves_first
from tsguard.report import Finding, Report, TargetReport
from tsguard.report.migration import Migration, Step, Use


def migrated(report: Report) -> Report:
    """The report with the way to torch.export; without losses of what is only a part of other targets."""
    parts = _parts(report.targets)
    inner = {part for wholes in parts.values() for part in wholes}
    handed = {target.target for target in report.targets if target.handed_over}
    kept = [f for f in report.findings if not _is_loss(f) or _of_entries(f, inner - handed)]
    findings, targets = number(kept, report.targets)
    report = replace(report, findings=findings, targets=targets)
    ordered = leaves_first({target.target: parts[target.target] for target in targets})
    by_name = {target.target: target for target in targets}
    steps = tuple(_step(by_name[name], report, parts[name]) for name in ordered)
    return replace(report, migration=Migration(steps, _obstacles(findings), tuple(_uses(findings))))


def in_the_way(report: Report) -> tuple[Finding, ...]:
    """The findings that a migration has to do with: what torch.export does not take, what is lost, torch.jit.

    What could not be read is among them: nobody knows what it holds.
    """
    return tuple(f for f in report.findings if f.family in ("export", "migration") or is_unread(f))


def is_unread(finding: Finding) -> bool:
    """Whether a finding tells that something could not be read or judged."""
    return finding.family == "tool" and finding.severity == "error"


def _is_loss(finding: Finding) -> bool:
    return finding.family == "migration" and bool(finding.targets)


def _of_entries(finding: Finding, inner: set[str]) -> bool:
    return not inner.issuperset(finding.targets)


def _parts(targets: Iterable[TargetReport]) -> Mapping[str, tuple[str, ...]]:
    """The targets that each is made of; one that was given with arguments goes by its class."""
    targets = list(targets)
    by_class: dict[str, list[str]] = {}
    for target in targets:
        by_class.setdefault(f"{target.path}:{target.qualname}", []).append(target.target)
    return {
        target.target: tuple(
            name for part in target.parts for name in by_class.get(part, ()) if name != target.target
        )
        for target in targets
    }


def _step(target: TargetReport, report: Report, parts: tuple[str, ...]) -> Step:
    own = [f for f in report.findings if target.target in f.targets]
    blockers = _blockers(own)
    return Step(
        target.target,
        target.script.verdict,
        target.trace.verdict,
        target.export.verdict,
        target.export.dynamic,
        target.export.compile,
        tuple(f.id for f in blockers),
        tuple(f.id for f in own if _is_loss(f)),
        parts,
    )


def _obstacles(findings: Iterable[Finding]) -> tuple[int, ...]:
    """What keeps targets from being exported, the most common first."""
    return tuple(f.id for f in sorted(_blockers(findings), key=lambda f: -len(f.targets)))


def _blockers(findings: Iterable[Finding]) -> list[Finding]:
    """What torch.export refuses or holds, once each place, by whichever way most targets come there."""
    found: dict[tuple[str, str], Finding] = {}
    for finding in findings:
        if finding.family == "export" and finding.severity != "info":
            known = found.setdefault((finding.code, finding.place), finding)
            if len(finding.targets) > len(known.targets):
                found[finding.code, finding.place] = finding
    return list(found.values())


def _uses(findings: Iterable[Finding]) -> Iterable[Use]:
    """The names of torch.jit with what takes their place, the most used first."""
    found: dict[tuple[str, str], list[int]] = {}
    for finding in findings:
        if finding.family == "migration" and not finding.targets:
            found.setdefault((finding.subject, finding.help or ""), []).append(finding.id)
    for (name, successor), ids in sorted(found.items(), key=lambda item: (-len(item[1]), item[0])):
        yield Use(name, successor, tuple(ids))
