"""The pipeline judge: what a module's DataLoaders, datasets and collate functions do wrong."""

from __future__ import annotations

from collections.abc import Iterator

from tsguard.analysis.pipeline import pipeline_events
from tsguard.analysis.pipeline.signatures import length_event, signature_event
from tsguard.judges.findings import finding
from tsguard.judges.script import ScriptOutcome
from tsguard.judges.trace import TraceOutcome
from tsguard.project import Target
from tsguard.project.modules import Module
from tsguard.project.project import Project
from tsguard.report import Finding
from tsguard.report.records import replace

# What fails on some systems only is advice, unless the code asks for what makes it fail.
_CERTAIN = frozenset({"unpicklable-callback/spawned", "missing-main-guard/spawned"})


def judge_pipeline(project: Project, module: Module) -> Iterator[Finding]:
    """The findings in one file; they belong to no target."""
    for event in pipeline_events(project, module):
        yield finding(event, severity="warning" if event.rule in _CERTAIN else None)


def called_with_a_batch(script: ScriptOutcome, target: Target) -> ScriptOutcome:
    """What scripting a collate function comes to: compiled for a Tensor, it breaks on a list of samples."""
    event = signature_event(target) if target.collates and script.verdict == "ok" else None
    if event is None:
        return script
    return replace(script, verdict="broken", events=(*script.events, (event, None)))


def traced_with_a_batch(trace: TraceOutcome, target: Target) -> TraceOutcome:
    """What tracing a collate function comes to: the batch is a list, of which a trace keeps the length."""
    event = length_event(target) if target.collates and trace.verdict == "safe" else None
    if event is None:
        return trace
    return replace(trace, verdict="hazardous", events=(*trace.events, event))
