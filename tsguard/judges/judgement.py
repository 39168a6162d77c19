"""A target's verdicts and the findings they rest on."""

from __future__ import annotations

from dataclasses import field

from tsguard.analysis.api import import_failure
from tsguard.analysis.events import Event, Gap
from tsguard.analysis.python import Program, PythonInterpreter
from tsguard.analysis.subjects import abstract
from tsguard.judges.export import ExportOutcome
from tsguard.judges.exported_methods import compiled_too
from tsguard.judges.findings import finding, unknown
from tsguard.judges.mode import judge_mode
from tsguard.judges.pipeline import called_with_a_batch, traced_with_a_batch
from tsguard.judges.script import ScriptOutcome, judge_script
from tsguard.judges.trace import TraceOutcome, judge_trace
from tsguard.project import Target
from tsguard.project.targets import is_only_scripted
from tsguard.report import (
    ExportJudgement,
    Finding,
    Layer,
    ModeVerdict,
    Purpose,
    ScriptVerdict,
    Severity,
    TraceVerdict,
    Unknown,
)
from tsguard.report.records import dataclass, replace


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the static analysis says of one target; findings have no ids yet."""

    target: Target
    findings: tuple[Finding, ...] = ()
    script: ScriptVerdict = "unknown"
    trace: TraceVerdict = "unknown"
    mode: ModeVerdict = "unknown"
    layers: tuple[Layer, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    trace_unknown: tuple[Unknown, ...] = ()
    mode_unknown: tuple[Unknown, ...] = ()
    export: ExportJudgement = field(default_factory=ExportJudgement)


def judge(program: Program, target: Target, purpose: Purpose = "trace") -> Judgement:
    """Judge one target for scripting, tracing and mode; ``purpose`` "export" for torch.export's sake."""
    unmade = abstract(PythonInterpreter(program), target)
    script = ScriptOutcome("unknown", gaps=(unmade,)) if unmade else judge_script(program, target)
    script = called_with_a_batch(script, target)
    mode = judge_mode(program, target)
    trace = _untraced(unmade) if unmade else judge_trace(program, target)
    trace = compiled_too(script, traced_with_a_batch(trace, target))
    if script.verdict == "blocked" and trace.verdict == "hazardous" and not _is_advised(trace):
        from tsguard.judges.parts import trace_parts

        advice = trace_parts(program, target)
        trace = replace(trace, events=(*trace.events, *filter(None, [advice])))
    failure = import_failure(program, target.module)
    if failure is not None:
        script, trace = _not_imported(script, trace, failure)
    traced = (
        [_doubted(target, event, trace.when.get(event.key)) for event in trace.events]
        if purpose != "export"
        else []
    )
    exported = [_told(target, event) for event in trace.export.events] if purpose != "trace" else []
    if is_only_scripted(program.project, target):
        # Its author has chosen script: that it cannot be traced besides is worth knowing, no more.
        traced = [replace(f, severity="info") for f in traced]
    severity: Severity | None = "warning" if script.verdict == "depends" else None
    findings = [
        *(_told(target, event, when, severity if when else None) for event, when in script.events),
        *traced,
        *exported,
        *(_doubted(target, event, when) for event, when in mode.events),
    ]
    if target.collates and not target.compiled:
        # Nobody asked torch.jit for it: what stands in the way is worth knowing, no more.
        findings = [replace(f, severity="info") for f in findings]
    return Judgement(
        target,
        findings=tuple(findings),
        script=script.verdict,
        trace=trace.verdict,
        mode=mode.verdict,
        layers=mode.layers,
        unknown=tuple(map(unknown, script.gaps)),
        trace_unknown=tuple(map(unknown, trace.gaps)),
        mode_unknown=tuple(map(unknown, mode.gaps)),
        export=_exported(trace.export),
    )


def _told(target: Target, event: Event, when: str | None = None, severity: Severity | None = None) -> Finding:
    """A finding; what is installed is not mended for the sake of who uses it."""
    is_foreign = event.module.is_installed and not target.module.is_installed
    return finding(event, when, severity, is_mended=not is_foreign)


def _doubted(target: Target, event: Event, when: str | None) -> Finding:
    """A finding that is no error where only some constructor arguments bring it."""
    found = _told(target, event, when)
    return replace(found, severity="warning") if when and found.severity == "error" else found


def _untraced(gap: Gap) -> TraceOutcome:
    return TraceOutcome("unknown", gaps=(gap,), export=ExportOutcome(gaps=(gap,)))


def _is_advised(trace: TraceOutcome) -> bool:
    """Whether there is mixed advice already."""
    return any(event.rule == "script-part" for event in trace.events)


def _not_imported(
    script: ScriptOutcome, trace: TraceOutcome, failure: Event
) -> tuple[ScriptOutcome, TraceOutcome]:
    """Nothing goes well with what is in a file that cannot be imported."""
    why = f"the file cannot be imported: {finding(failure).message}"
    gap = Gap(failure.module, failure.span.line, why)
    if script.verdict in ("ok", "unknown"):
        script = replace(script, verdict="unknown", gaps=(gap, *script.gaps))
    if trace.verdict in ("safe", "unknown"):
        trace = replace(trace, verdict="unknown", gaps=(gap, *trace.gaps))
    trace = replace(trace, export=ExportOutcome(events=trace.export.events, gaps=(gap,)))
    return script, trace


def _exported(outcome: ExportOutcome) -> ExportJudgement:
    """What is said of a target; torch.export takes modules, a function is meant to be part of one."""
    return ExportJudgement(
        outcome.verdict,
        unknown=tuple(map(unknown, outcome.gaps)),
        dynamic=outcome.dynamic,
        fixed=outcome.fixed,
        compile=outcome.compile,
    )
