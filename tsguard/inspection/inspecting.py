"""One file's part of a run: its own findings, and the judgement of each of its targets."""

from __future__ import annotations

import functools
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tsguard.inspection.deep_stack import on_deep_stack
from tsguard.report import (
    Error,
    Finding,
    ModeJudgement,
    Purpose,
    ScriptJudgement,
    TargetReport,
    TraceJudgement,
    Unknown,
)
from tsguard.report.records import dataclass, replace
from tsguard.rules import holds, rule
from tsguard.settings.requests import Job, shown
from tsguard.source import Span
from tsguard.source.text import Broken

if TYPE_CHECKING:
    from tsguard.analysis.python import Program
    from tsguard.judges import Judgement
    from tsguard.project import Target
    from tsguard.project.modules import Module


@dataclass(frozen=True, slots=True)
class InspectedTarget:
    """A target's verdicts, without the numbers of findings, and the findings themselves."""

    report: TargetReport
    findings: tuple[Finding, ...]
    end_line: int


@dataclass(frozen=True, slots=True)
class Inspection:
    """Everything that one file adds to a report; ``whole`` unless only named targets were judged.

    ``merged`` are the findings of targets that no longer hold them.
    """

    shown: str
    whole: bool = True
    findings: tuple[Finding, ...] = ()
    targets: tuple[InspectedTarget, ...] = ()
    errors: tuple[Error, ...] = ()
    merged: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class EarlierInspection:
    """What was found of a file when it held another ``text``, and the other files that this rests on."""

    text: str
    inspection: Inspection
    files: frozenset[str]


def inspect(
    program: Program,
    job: Job,
    purpose: Purpose = "trace",
    known: Callable[[Target], InspectedTarget | None] = lambda target: None,
) -> Inspection:
    """Judge the targets of one file; a bug of ours in one of them is a finding, never an exception.

    ``known`` gives what an earlier judgement still says of a target, None where there is none.
    """
    return on_deep_stack(lambda: _inspected(program, job, purpose, known))


def _inspected(
    program: Program, job: Job, purpose: Purpose, known: Callable[[Target], InspectedTarget | None]
) -> Inspection:
    project = program.project
    module = project.module(job.path, shown=job.shown, text=job.text)
    _ = module.file.tree  # only parsing tells whether the file is broken
    if module.file.broken is not None:
        return Inspection(job.shown, job.whole, (_broken(module.file.broken, job),))
    findings = [_broken(broken, job) for _, broken in module.file.broken_cells]
    errors: list[Error] = []
    inspected: list[InspectedTarget] = []
    try:
        for target in _targets(program, module, job, errors):
            inspected.append(known(target) or _judge(program, target, job, purpose))
        findings += _of_file(program, module, job, purpose) if job.whole else ()
    except Exception as error:
        findings.append(internal_error(error, job.shown, job.shown, Span(1, 1, 1, 1)))
    return Inspection(job.shown, job.whole, tuple(findings), tuple(inspected), tuple(errors))


def tool_finding(code: str, path: str, span: Span, **fields: str) -> Finding:
    """A finding of the tool itself; ``fields`` fill in the message and the help of its page."""
    page = rule(code)
    return Finding(
        code=page.code,
        name=page.name,
        family=page.family,
        severity=page.severity,
        message=page.message.format(**fields),
        help=page.help.format(**fields) if page.help else None,
        path=path,
        line=span.line,
        column=span.column,
        end_line=span.end_line,
        end_column=span.end_column,
    )


def internal_error(error: Exception, target: str, path: str, span: Span) -> Finding:
    """The finding that stands for a bug of ours: it names the exception and its place in a line."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    said = " ".join(str(error).split())[:200]
    summary = f"{type(error).__name__}{': ' if said else ''}{said}{place}"
    return tool_finding("TSG004", path, span, target=target, error=summary)


def killed(job: Job, ending: str) -> Inspection:
    """What is known of a file whose process ended without a result: ``ending`` says how."""
    return Inspection(
        job.shown, job.whole, (tool_finding("TSG005", job.shown, Span(1, 1, 1, 1), ending=ending),)
    )


def _of_file(program: Program, module: Module, job: Job, purpose: Purpose) -> Iterator[Finding]:
    """The findings that belong to no target."""
    from tsguard.judges.api import judge_api
    from tsguard.judges.pipeline import judge_pipeline

    found = [*judge_api(program, module), *judge_pipeline(program.project, module)]
    if purpose == "migration":
        from tsguard.judges.migration import judge_uses

        found += judge_uses(program, module)
    for finding in found:
        if holds(finding.code, program.tables.release):
            yield _named(finding, job)


def _broken(broken: Broken, job: Job) -> Finding:
    code = "TSG001" if broken.kind == "syntax" else "TSG002"
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    facts = {"reason": broken.message, "repair": broken.repair, "version": version}
    return tool_finding(code, job.shown, broken.span, **facts)


def _targets(program: Program, module: Module, job: Job, errors: list[Error]) -> Iterator[Target]:
    from tsguard.analysis.signatures import wrong_arguments
    from tsguard.project import TargetNotFound
    from tsguard.project.targets import find_target, targets_of

    by_name = {expression for _, expression in job.named}
    if job.whole:
        for target in targets_of(program.project, module):
            if target.qualname not in by_name:
                yield replace(target, spec=f"{job.shown}:{target.qualname}")
    for given, expression in job.named:
        try:
            target = replace(find_target(module, expression), spec=given)
        except TargetNotFound as error:
            errors.append(Error(f"{given}: {error}", job.shown))
            continue
        wrong = wrong_arguments(program, target)
        if wrong is not None:
            errors.append(Error(f"{given}: {wrong}", job.shown))
        else:
            yield target


def _judge(program: Program, target: Target, job: Job, purpose: Purpose) -> InspectedTarget:
    from tsguard.judges import Judgement, judge

    try:
        judgement = judge(program, target, purpose)
    except Exception as error:  # RecursionError and MemoryError too
        span = target.module.file.span(target.node)
        finding = internal_error(error, target.spec, target.path, span)
        judgement = Judgement(
            target, (finding,), unknown=(Unknown(target.path, target.line, finding.message),)
        )
    report, found = _report(judgement, job), judgement.findings
    if purpose == "migration":
        report, found = _for_migration(program, judgement, report, job)
    findings = tuple(replace(_named(finding, job), targets=(target.spec,)) for finding in found)
    return InspectedTarget(report, findings, target.node.end_lineno or target.line)


def _for_migration(
    program: Program, judgement: Judgement, report: TargetReport, job: Job
) -> tuple[TargetReport, tuple[Finding, ...]]:
    """A target with the targets that it is made of, and its findings with those on what a program cannot do."""
    from tsguard.analysis.migration.parts import parts_of
    from tsguard.judges.migration import judge_losses

    target = judgement.target
    # What torch.jit does not take either is not lost.
    lost = judge_losses(program, judgement) if judgement.script != "blocked" else ()
    parts = tuple(f"{_shown(module.file.path, job)}:{name}" for module, name in parts_of(program, target))
    return replace(report, parts=parts, handed_over=target.compiled), (*judgement.findings, *lost)


def _report(judgement: Judgement, job: Job) -> TargetReport:
    target = judgement.target
    unknown, trace_unknown, mode_unknown, export_unknown = (
        tuple(replace(place, path=_shown(place.path, job)) for place in places)
        for places in (
            judgement.unknown,
            judgement.trace_unknown,
            judgement.mode_unknown,
            judgement.export.unknown,
        )
    )
    return TargetReport(
        target=target.spec,
        path=job.shown,
        qualname=target.qualname,
        line=target.line,
        kind=target.kind,
        script=ScriptJudgement(judgement.script, unknown=unknown),
        trace=TraceJudgement(judgement.trace, unknown=trace_unknown if judgement.trace == "unknown" else ()),
        mode=ModeJudgement(
            judgement.mode,
            layers=judgement.layers,
            unknown=mode_unknown if judgement.mode == "unknown" else (),
        ),
        export=replace(judgement.export, unknown=export_unknown),
    )


def _named(finding: Finding, job: Job) -> Finding:
    """A finding, and its fix, with the path as reports name it."""
    path = _shown(finding.path, job)
    if finding.fix is None:
        return finding if path == finding.path else replace(finding, path=path)
    paths = [_shown(edit.path, job) for edit in finding.fix.edits]
    if path == finding.path and paths == [edit.path for edit in finding.fix.edits]:
        return finding  # many targets share the fix
    edits = tuple([replace(e, path=shown) for e, shown in zip(finding.fix.edits, paths, strict=True)])
    return replace(finding, path=path, fix=replace(finding.fix, edits=edits))


def _shown(path: str, job: Job) -> str:
    """A path of the project as reports name it."""
    return job.shown if path in (job.shown, str(job.path)) else _shown_from(os.getcwd(), path)


@functools.lru_cache(maxsize=1024)
def _shown_from(here: str, path: str) -> str:
    """A path as reports name it from a working folder: few files hold most findings."""
    return shown(Path(path))
