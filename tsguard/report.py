"""What every stage passes on: findings, verdicts, attempts, and the report that holds them.

The JSON form of these classes is a contract (``schema_version`` 1): fields may be
added, never renamed or removed.  Lines and columns are 1-based, columns count Unicode
code points, end positions are exclusive, paths are relative to the working folder.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

SCHEMA_VERSION = 1

Family = Literal["tool", "script", "trace", "mode", "api", "pipeline", "attempt"]
Severity = Literal["error", "warning", "info"]
Applicability = Literal["safe", "unsafe"]
ScriptVerdict = Literal["ok", "blocked", "broken", "depends", "unknown"]
TraceVerdict = Literal["safe", "hazardous", "unknown"]
ModeVerdict = Literal["dependent", "independent", "unknown"]
AttemptStatus = Literal["ok", "failed", "diverged", "timeout", "crashed", "skipped"]
Purpose = Literal["trace", "export"]
Conclusion = Literal["faster", "slower", "no difference", "too noisy"]

APPLICABILITIES: tuple[Applicability, ...] = ("safe", "unsafe")
SEVERITIES: tuple[Severity, ...] = ("info", "warning", "error")


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text between two positions of a file."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    content: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that repair a finding; ``safe`` ones keep the meaning of the code."""

    applicability: Applicability
    message: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule broken at one place.

    ``when`` is the constructor condition under which it holds (None: always; "unless ..." where
    it holds but for few arguments),
    ``chain`` the calls that lead from the target to the place, outermost first, and
    ``targets`` the targets whose closure holds the place.  In a notebook ``cell`` is the
    number of the cell, among all cells from 1 on, and lines are those of the cell.
    ``confirmed`` is what an attempt showed of it, ``warned`` whether torch warned of the place.
    """

    code: str
    name: str
    family: Family
    severity: Severity
    message: str
    help: str | None
    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    when: str | None = None
    chain: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    fix: Fix | None = None
    confirmed: bool | None = None
    id: int = -1
    cell: int | None = None
    warned: bool = False

    @property
    def condition(self) -> str:
        """``when norm is None`` or ``unless config is ...``; empty where it always holds."""
        if self.when is None or self.when.startswith("unless "):
            return self.when or ""
        return f"when {self.when}"

    @property
    def place(self) -> str:
        """``net.py:3:5``, in a notebook ``net.ipynb:cell 2:3:5``."""
        return f"{_placed(self.path, self.cell)}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Unknown:
    """Why a target could not be judged: a place (see ``Finding``), a reason, and what to do about it."""

    path: str
    line: int
    why: str
    help: str | None = None
    cell: int | None = None

    @property
    def place(self) -> str:
        """``net.py:3``, in a notebook ``net.ipynb:cell 2:3``."""
        return f"{_placed(self.path, self.cell)}:{self.line}"


@dataclass(frozen=True, slots=True)
class ScriptJudgement:
    """``confirmed`` is what attempts say of the verdict: False where they refute it, None for nothing."""

    verdict: ScriptVerdict = "unknown"
    findings: tuple[int, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    confirmed: bool | None = None


@dataclass(frozen=True, slots=True)
class TraceJudgement:
    """``confirmed`` as for scripting."""

    verdict: TraceVerdict = "unknown"
    findings: tuple[int, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    confirmed: bool | None = None


@dataclass(frozen=True, slots=True)
class Layer:
    """A submodule (or function) whose behaviour depends on the mode."""

    attribute: str
    type: str


@dataclass(frozen=True, slots=True)
class ModeJudgement:
    verdict: ModeVerdict = "unknown"
    findings: tuple[int, ...] = ()
    layers: tuple[Layer, ...] = ()
    unknown: tuple[Unknown, ...] = ()


@dataclass(frozen=True, slots=True)
class AttemptError:
    """What stopped an attempt; ``path`` and ``line`` are the user's, where known."""

    type: str
    message: str
    path: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Variant:
    """One set of inputs on which an attempt was compared with eager."""

    name: str
    equal: bool
    max_error: float | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Parity:
    """Agreement with eager: ``ok`` only when every variant agrees."""

    ok: bool
    variants: tuple[Variant, ...] = ()
    gradients: bool | None = None
    buffers: bool | None = None


@dataclass(frozen=True, slots=True)
class Speedup:
    """Median of paired eager/attempt time ratios, with its confidence interval."""

    median: float
    low: float
    high: float
    rounds: int
    conclusion: Conclusion


@dataclass(frozen=True, slots=True)
class Attempt:
    """One real run of one backend on one device in one mode.

    ``compile_seconds`` is what making it cost (script, trace, freeze...),
    ``first_call_seconds`` its first call, ``seconds`` and ``eager_seconds`` the median
    of one warm call of it and of eager, all in CPU seconds of the calling thread on
    CPU and in wall seconds on a GPU.  ``saved`` tells whether a saved artifact gives the
    same result in a process that does not have the user's code.
    """

    backend: str
    device: str
    mode: Literal["eval", "train"]
    passes: Literal["forward", "forward+backward"]
    status: AttemptStatus
    error: AttemptError | None = None
    parity: Parity | None = None
    warm_up_calls: int = 0
    compile_seconds: float = 0.0
    speedup: Speedup | None = None
    warnings: tuple[AttemptError, ...] = ()
    dtype: str | None = None
    first_call_seconds: float | None = None
    seconds: float | None = None
    eager_seconds: float | None = None
    saved: bool | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Submodule:
    """One distinct submodule of a target: what became of it on its own.

    ``share`` is its part of the eager time of the whole, with its submodules. ``error`` is
    why it does not script, or else why it does not trace, ``trace_error`` why it does not
    trace where neither works; ``note`` says why there is no speed.
    """

    path: str
    type: str
    calls: int
    share: float | None = None
    script: AttemptStatus = "skipped"
    trace: AttemptStatus = "skipped"
    speedup: Speedup | None = None
    error: AttemptError | None = None
    trace_error: AttemptError | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Where a target's time goes, and the fewest submodules worth scripting.

    ``speedup`` is that of the whole with exactly those scripted, measured end to end.
    ``note`` says why none is chosen, or what kept it from being measured.
    """

    submodules: tuple[Submodule, ...] = ()
    chosen: tuple[str, ...] = ()
    speedup: Speedup | None = None
    equal: bool | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class ReleaseVerdicts:
    """The verdicts on a target for one torch release."""

    release: str
    script: ScriptVerdict
    trace: TraceVerdict
    mode: ModeVerdict


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
    """

    target: str
    path: str
    qualname: str
    line: int
    kind: Literal["module", "function"]
    script: ScriptJudgement = ScriptJudgement()
    trace: TraceJudgement = TraceJudgement()
    mode: ModeJudgement = ModeJudgement()
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


@dataclass(frozen=True, slots=True)
class LoaderSettings:
    """The arguments of a DataLoader that say how, not what, it loads."""

    num_workers: int = 0
    prefetch_factor: int | None = None
    pin_memory: bool = False
    persistent_workers: bool = False
    start_method: str | None = None


@dataclass(frozen=True, slots=True)
class BatchCost:
    """Wall seconds that one batch costs in one process (medians), step by step.

    ``item_cpu_seconds`` is the CPU time within ``item_seconds`` and ``item_waiting_seconds``
    the time in which it waited for something else than a core, None where that is not told.
    ``transfer_seconds`` is the copy to the GPU, None where there is none; ``bytes`` what
    the tensors of a batch hold.
    """

    items: int
    bytes: int
    item_seconds: float
    item_cpu_seconds: float
    collate_seconds: float
    item_waiting_seconds: float | None = None
    transfer_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Throughput:
    """What a number of workers delivers, in the steady state.

    ``items_per_second`` is the median of ``rounds`` turns, ``low`` and ``high`` their
    extremes; ``first_batch_seconds`` is how long the first batch is waited for, with the
    start of the workers; ``speedup`` the paired ratio to the loader as it is set up.
    """

    workers: int
    status: AttemptStatus
    items_per_second: float | None = None
    low: float | None = None
    high: float | None = None
    rounds: int = 0
    first_batch_seconds: float | None = None
    speedup: Speedup | None = None
    error: AttemptError | None = None


@dataclass(frozen=True, slots=True)
class LoaderReport:
    """Everything measured about one DataLoader.

    ``kind`` is "map" or "iterable"; ``length`` the items of an epoch, where known; ``step``
    what was being done when ``error`` ended the measurement.  ``pinned`` is the speed of
    loading and copying to the GPU with pinned memory against without.
    """

    target: str
    dataset: str = ""
    kind: Literal["map", "iterable"] = "map"
    length: int | None = None
    batch_size: int | None = None
    collate: str = ""
    collate_is_compiled: bool = False
    cores: int = 1
    settings: LoaderSettings = LoaderSettings()
    cost: BatchCost | None = None
    collating: tuple[Attempt, ...] = ()
    throughput: tuple[Throughput, ...] = ()
    pinned: Speedup | None = None
    recommended: LoaderSettings | None = None
    gain: Speedup | None = None
    recommendation: str | None = None
    notes: tuple[str, ...] = ()
    step: str | None = None
    error: AttemptError | None = None


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
class Cause:
    """One thing that was not read (see ``Unknown``), and the targets with a verdict that is unknown for it."""

    path: str
    line: int
    why: str
    help: str | None = None
    cell: int | None = None
    targets: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """As that of a finding, without a column."""
        return f"{_placed(self.path, self.cell)}:{self.line}"


@dataclass(frozen=True, slots=True)
class Report:
    """The one object that every output format is made from.

    ``torch_tables`` names the torch releases that the code is judged for, oldest first, separated
    by commas; ``torch_told_by`` says what tells them, ``torch_note`` what is to be known about
    them.  ``purpose`` tells for whose sake the facts of tracing are judged: the ``trace`` verdicts and
    findings of a report for "export" are those of torch.export.  ``known`` are the findings before
    any was left out: it is what answers rest on, and no part of the JSON form.  ``baseline`` is
    None without one.  ``packages`` tells where imported packages were read, None where no
    environment was found.  ``interrupted`` tells of a run that was ended before all was attempted.
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

    @property
    def unknown(self) -> tuple[TargetReport, ...]:
        """The targets with a verdict that is unknown."""
        return tuple(target for target in self.targets if any(_unknown_judgements(target)))

    def causes(self) -> tuple[Cause, ...]:
        """What keeps verdicts unknown, each cause once."""
        found: dict[tuple[str, int | None, int, str], Cause] = {}
        for target in self.targets:
            for judgement in _unknown_judgements(target):
                for place in judgement.unknown:
                    key = (place.path, place.cell, place.line, place.why)
                    first = Cause(place.path, place.line, place.why, place.help, place.cell)
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
        for family in ("script", "trace", "mode"):
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
        return {
            "schema_version": SCHEMA_VERSION,
            "tsguard_version": self.tsguard_version,
            "torch_tables": self.torch_tables,
            "torch_told_by": self.torch_told_by,
            "torch_note": self.torch_note,
            "purpose": self.purpose,
            "interrupted": self.interrupted,
            "environment": dict(self.environment),
            "baseline": _plain(self.baseline),
            "packages": _plain(self.packages) if self.packages is not None else None,
            "findings": [_finding_json(f) for f in self.findings],
            "targets": [_with_passes(t, "attempts") for t in self.targets],
            "causes": [_plain(cause) for cause in self.causes()],
            "loaders": [_with_passes(loader, "collating") for loader in self.loaders],
            "summary": self.summary(),
            "errors": [_plain(e) for e in self.errors],
        }


def is_fixable(finding: Finding, unsafe: bool) -> bool:
    """Whether a finding has a fix, a safe one unless ``unsafe`` ones count too."""
    return finding.fix is not None and (unsafe or finding.fix.applicability == "safe")


def _unknown_judgements(target: TargetReport) -> Iterator[ScriptJudgement | TraceJudgement | ModeJudgement]:
    for judgement in (target.script, target.trace, target.mode):
        if judgement.verdict == "unknown":
            yield judgement


def _placed(path: str, cell: int | None) -> str:
    return path if cell is None else f"{path}:cell {cell}"


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return value


def _finding_json(finding: Finding) -> dict[str, Any]:
    fields: dict[str, Any] = _plain(finding)
    return {"id": fields.pop("id"), **fields}


def _with_passes(value: TargetReport | LoaderReport, attempts: str) -> dict[str, Any]:
    fields: dict[str, Any] = _plain(value)
    for attempt in fields[attempts]:
        attempt["pass"] = attempt.pop("passes")
    return fields
