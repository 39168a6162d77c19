"""Judgements of the same files for several torch releases, put together: where they part, and how."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tsguard.inspection.inspecting import InspectedTarget, Inspection
from tsguard.language.tables import RELEASES
from tsguard.report import Finding, ReleaseVerdicts, TargetReport
from tsguard.report.records import replace
from tsguard.settings.requests import Job

# What a target of several releases comes to: the verdict that asks for the most attention.
_GRAVEST = {
    "script": ("blocked", "broken", "depends", "unknown", "ok"),
    "trace": ("hazardous", "depends", "unknown", "safe"),
    "mode": ("dependent", "depends", "unknown", "independent"),
    "export": ("refused", "specialised", "unknown", "exports"),
}
_By = Mapping[str, Inspection]


def together(
    jobs: Sequence[Job],
    judged: Mapping[str, Sequence[Inspection]],
    inspect: Callable[[Sequence[Job], str], Sequence[Inspection]],
) -> list[Inspection]:
    """One inspection of each job, from those for each of several releases.

    Where they differ, ``inspect`` judges the jobs for the releases between as well, so that a
    finding's condition names the release from which, or before which, it holds.
    """
    asked = list(judged)
    parted = [n for n in range(len(jobs)) if any(judged[r][n] != judged[asked[0]][n] for r in asked)]
    again = [jobs[n] for n in parted]
    span = RELEASES[RELEASES.index(asked[0]) : RELEASES.index(asked[-1]) + 1] if parted else ()
    every = {r: [judged[r][n] for n in parted] if r in judged else inspect(again, r) for r in span}
    done = list(judged[asked[0]])
    for place, number in enumerate(parted):
        done[number] = _joined({release: found[place] for release, found in every.items()}, asked)
    return done


def when_by_release(holds: Sequence[bool], releases: Sequence[str]) -> str | None:
    """The condition under which something holds that holds for some of the releases; None for all of them.

    ``releases`` are neighbours, oldest first.
    """
    if all(holds):
        return None
    first = holds.index(True)
    last = len(holds) - 1 - list(reversed(holds)).index(True)
    if not all(holds[first : last + 1]):
        return f"torch is {', '.join(r for r, held in zip(releases, holds, strict=True) if held)}"
    if first == 0:
        return f"torch is older than {releases[last + 1]}"
    newer = f"torch is {releases[first]} or newer"
    return newer if last == len(holds) - 1 else f"{newer} and older than {releases[last + 1]}"


def _joined(by_release: _By, asked: Sequence[str]) -> Inspection:
    targets: dict[str, dict[str, InspectedTarget]] = {}
    for release, inspection in by_release.items():
        for target in inspection.targets:
            targets.setdefault(target.report.target, {})[release] = target
    first = by_release[asked[0]]
    return replace(
        first,
        findings=_conditioned({r: i.findings for r, i in by_release.items()}, asked),
        targets=tuple(_joined_target(each, asked) for each in targets.values()),
        errors=tuple(dict.fromkeys(error for r in asked for error in by_release[r].errors)),
    )


def _joined_target(by_release: Mapping[str, InspectedTarget], asked: Sequence[str]) -> InspectedTarget:
    reports = {release: target.report for release, target in by_release.items()}
    first = by_release[asked[0]]
    verdicts = tuple(
        ReleaseVerdicts(release, r.script.verdict, r.trace.verdict, r.mode.verdict, r.export.verdict)
        for release, r in reports.items()
    )
    # That the older releases have not been asked what they export is no difference.
    exported = {v.export for v in verdicts} - {"unknown"}
    differ = len({(v.script, v.trace, v.mode) for v in verdicts}) > 1 or len(exported) > 1
    report = replace(
        first.report,
        script=_gravest("script", [reports[r] for r in asked]).script,
        trace=_gravest("trace", [reports[r] for r in asked]).trace,
        mode=_gravest("mode", [reports[r] for r in asked]).mode,
        export=_gravest("export", [reports[r] for r in asked]).export,
        releases=verdicts if differ else (),
    )
    found = _conditioned({r: target.findings for r, target in by_release.items()}, asked)
    return replace(first, report=report, findings=found)


def _gravest(family: str, reports: Sequence[TargetReport]) -> TargetReport:
    return min(reports, key=lambda report: _GRAVEST[family].index(getattr(report, family).verdict))


def _conditioned(by_release: Mapping[str, Sequence[Finding]], asked: Sequence[str]) -> tuple[Finding, ...]:
    """The findings for the asked releases, each with the condition that tells where it holds."""
    releases = list(by_release)
    seen: dict[Finding, Finding] = {}
    holding: dict[Finding, set[str]] = {}
    for release, findings in by_release.items():
        for finding in findings:
            # How it is mended and reached may differ: it is told as for the newest.
            key = replace(finding, fix=None, chain=(), help=None)
            seen[key] = finding
            holding.setdefault(key, set()).add(release)
    return tuple(
        _under(finding, holding[key], releases) for key, finding in seen.items() if holding[key] & {*asked}
    )


def _under(finding: Finding, holding: set[str], releases: Sequence[str]) -> Finding:
    condition = when_by_release([release in holding for release in releases], releases)
    parts = [part for part in (finding.when, condition) if part]
    return replace(finding, when=" and ".join(parts) or None)
