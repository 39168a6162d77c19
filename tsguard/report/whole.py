"""The report that every output format is made from, and its JSON form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Any, Literal

from tsguard.report.attempts import Attempt, AttemptError, Breakdown
from tsguard.report.findings import APPLICABILITIES, SEVERITIES, Finding
from tsguard.report.judgements import (
    ASK_TORCH,
    Cause,
    ExportJudgement,
    ModeJudgement,
    ReleaseVerdicts,
    ScriptJudgement,
    TraceJudgement,
)
from tsguard.report.loaders import LoaderReport
from tsguard.report.migration import Migration
from tsguard.report.records import dataclass, replace

SCHEMA_VERSION = 1
Purpose = Literal["trace", "export", "migration"]
Judgement = ScriptJudgement | TraceJudgement | ExportJudgement | ModeJudgement


@dataclass(frozen=True, slots=True)
class TargetReport:
    """Everything known about one target.

    ``constructor`` is the expression that made it, ``inputs`` the options that give
    its example inputs (``--input 'torch.randn(2, 3, 64, 64)'``), ``guessed`` whether
    either was inferred rather than given.  ``blockers`` is what torch.jit.script refuses
    in its own words: its first error, and those past it that do not come of taking it out.
    ``not_attempted`` says why it was not called, None where it was or nobody meant to.
    ``releases`` is how the verdicts differ where the target is judged for several torch releases,
    oldest first, with the releases between; () where they agree.  The verdicts are then the gravest.
    ``parts`` are the module classes (``net.py:Block``) that it names, ``handed_over`` tells that its
    file hands it to torch.jit, or the user named it; both are known in a report for "migration" only.
    """

    target: str
    path: str
    qualname: str
    line: int
    kind: Literal["module", "function"]
    script: ScriptJudgement = field(default_factory=ScriptJudgement)
    trace: TraceJudgement = field(default_factory=TraceJudgement)
    mode: ModeJudgement = field(default_factory=ModeJudgement)
    export: ExportJudgement = field(default_factory=ExportJudgement)
    attempts: tuple[Attempt, ...] = ()
    constructor: str | None = None
    inputs: str | None = None
    guessed: bool = False
    breakdown: Breakdown | None = None
    blockers: tuple[AttemptError, ...] = ()
    recommendation: str | None = None
    releases: tuple[ReleaseVerdicts, ...] = ()
    cell: int | None = None
    not_attempted: str | None = None
    parts: tuple[str, ...] = ()
    handed_over: bool = False

    def judgements(self, purpose: Purpose) -> tuple[Judgement, ...]:
        """The judgements that a report for a purpose is about."""
        traced = () if purpose == "export" else (self.trace,)
        exported = () if purpose == "trace" else (self.export,)
        return (self.script, *traced, *exported, self.mode)


@dataclass(frozen=True, slots=True)
class BaselineEntry:
    """One accepted finding, as a baseline has it; its path is relative to the baseline's folder."""

    path: str
    code: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class BaselineUse:
    """What a baseline hides: findings, and those of its entries for which nothing is found any more."""

    accepted: tuple[Finding, ...] = ()
    stale: tuple[BaselineEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class Error:
    """Something that kept the tool from doing what was asked (exit status 2)."""

    message: str
    path: str | None = None


@dataclass(frozen=True, slots=True)
class Packages:
    """The environment whose installed packages were read, and how it was found."""

    path: str
    source: str


@dataclass(frozen=True, slots=True)
class Report:
    """The one object that every output format is made from.

    ``torch_tables`` names the torch releases that the code is judged for, oldest first, separated
    by commas; ``torch_told_by`` says what tells them, ``torch_note`` what is to be known about
    them.  ``purpose`` tells which findings it has: of traces ("trace"), of the export family instead
    ("export"), or of both ("migration"); the verdicts are the same.  ``known`` are the findings before
    any was left out: it is what answers rest on, and no part of the JSON form.  ``baseline`` is
    None without one.  ``packages`` tells where imported packages were read, None where no
    environment was found.  ``interrupted`` tells of a run that was ended before all was attempted.
    ``migration`` is what ``tsguard migrate`` makes of it, else None.
    """

    tsguard_version: str
    torch_tables: str
    findings: tuple[Finding, ...] = ()
    targets: tuple[TargetReport, ...] = ()
    files: int = 0
    errors: tuple[Error, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    loaders: tuple[LoaderReport, ...] = ()
    fixed: int = 0
    purpose: Purpose = "trace"
    known: tuple[Finding, ...] = ()
    baseline: BaselineUse | None = None
    packages: Packages | None = None
    interrupted: bool = False
    torch_told_by: str = ""
    torch_note: str | None = None
    migration: Migration | None = None

    @property
    def unknown(self) -> tuple[TargetReport, ...]:
        """The targets with a verdict that is unknown."""
        return tuple(
            t for t in self.targets if any(j.verdict == "unknown" for j in t.judgements(self.purpose))
        )

    def causes(self) -> tuple[Cause, ...]:
        """What keeps verdicts unknown, each cause once."""
        found: dict[tuple[str, int | None, int, str], Cause] = {}
        for target in self.targets:
            judgements = [j for j in target.judgements(self.purpose) if j.verdict == "unknown"]
            for judgement in judgements:
                for place in judgement.unknown:
                    key = (place.path, place.cell, place.line, place.why)
                    is_asked = bool(target.attempts) and place.help == ASK_TORCH
                    remedy = None if is_asked else place.help
                    first = Cause(place.path, place.line, place.why, remedy, place.cell)
                    cause = found.setdefault(key, first)
                    if target.target not in cause.targets:
                        found[key] = replace(cause, targets=(*cause.targets, target.target))
        return tuple(found.values())

    def summary(self) -> dict[str, Any]:
        """Counts by severity, by verdict, and of what is fixed or can be."""
        counts: dict[str, Any] = {"files": self.files, "targets": len(self.targets)}
        counts["not_attempted"] = sum(target.not_attempted is not None for target in self.targets)
        for severity in reversed(SEVERITIES):
            counts[severity] = sum(f.severity == severity for f in self.findings)
        for family in ("script", "trace", "mode", "export"):
            tally: dict[str, int] = {}
            for target in self.targets:
                verdict = getattr(target, family).verdict
                tally[verdict] = tally.get(verdict, 0) + 1
            counts[family] = tally
        fixes = [finding.fix.applicability for finding in self.findings if finding.fix]
        return counts | {
            "unknown": len(self.unknown),
            "fixed": self.fixed,
            "fixable": {word: fixes.count(word) for word in APPLICABILITIES},
        }

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values, in the shape of the shipped schema."""
        return {name: list(v) if isinstance(v, Iterator) else v for name, v in self.to_json_fields()}

    def to_json_fields(self) -> Iterator[tuple[str, Any]]:
        """What ``to_json`` gives, field by field; lists as iterators, for a large report need not be held twice."""
        yield "schema_version", SCHEMA_VERSION
        yield "tsguard_version", self.tsguard_version
        yield "torch_tables", self.torch_tables
        yield "torch_told_by", self.torch_told_by
        yield "torch_note", self.torch_note
        yield "purpose", self.purpose
        yield "interrupted", self.interrupted
        yield "environment", dict(self.environment)
        yield "baseline", _plain(self.baseline)
        yield "packages", _plain(self.packages) if self.packages is not None else None
        yield "findings", map(_finding_json, self.findings)
        yield "targets", (_with_passes(target, "attempts") for target in self.targets)
        yield "causes", map(_plain, self.causes())
        yield "loaders", (_with_passes(loader, "collating") for loader in self.loaders)
        yield "summary", self.summary()
        yield "errors", map(_plain, self.errors)
        yield "migration", _plain(self.migration) if self.migration is not None else None


def _plain(value: object) -> Any:
    import msgspec  # here, since workers build reports' parts on interpreters that may not have it

    return msgspec.to_builtins(value)


def _finding_json(finding: Finding) -> dict[str, Any]:
    fields: dict[str, Any] = _plain(finding)
    return {"id": fields.pop("id"), **fields}


def _with_passes(value: TargetReport | LoaderReport, attempts: str) -> dict[str, Any]:
    fields: dict[str, Any] = _plain(value)
    for attempt in fields[attempts]:
        attempt["pass"] = attempt.pop("passes")
    return fields
