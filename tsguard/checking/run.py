"""The main job: the static report, real attempts, and the two held against each other."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from tsguard.answer.making import EXPORTED
from tsguard.linting.assembly import hides, number
from tsguard.linting.run import lint
from tsguard.report import Breakdown, Error, Finding, Purpose, Report, TargetReport
from tsguard.runtime.assigning import Assigned, assign, configured, missing_devices, unknown_names
from tsguard.runtime.attempts import Bounds, TargetAttempts
from tsguard.runtime.confirmation import confirmed, with_verdicts_held
from tsguard.runtime.findings import shown_by, why_not
from tsguard.runtime.fleet import ClusterUnavailable, fleet
from tsguard.runtime.launcher import Launcher, TorchUnavailable, unavailable
from tsguard.runtime.needs import input_option
from tsguard.runtime.options import DEFAULT_BACKENDS, CheckOptions
from tsguard.runtime.parts import break_down
from tsguard.runtime.plan import Settings as AttemptSettings
from tsguard.runtime.pool import Interrupted, attempt_all
from tsguard.runtime.progress import Progress
from tsguard.runtime.recommendation import recommend
from tsguard.runtime.requirements import UnusablePrevious, previous_attempts, regressions, unmet
from tsguard.runtime.site import Site, local_site
from tsguard.runtime.step_summary import write_step_summary
from tsguard.runtime.task import Limits
from tsguard.settings.config import Settings
from tsguard.settings.environment import NoEnvironment, find_environment
from tsguard.settings.requests import Request, plan
from tsguard.settings.torch_release import installed
from tsguard.source.sources import Sources
from tsguard.source.suppressions import suppressions
from tsguard.source.text import is_notebook

__all__ = ["CheckOptions", "run"]


def run(
    requests: Sequence[Request],
    settings: Settings,
    options: CheckOptions,
    *,
    progress: Progress | None = None,
    launcher: Launcher | None = None,
) -> tuple[Report, Sources]:
    """Judge what is requested, attempt it for real, and report both together.

    Without torch the static part is reported, with an error that says how to get the rest.

    Args:
        requests: files (all their targets are attempted), targets, and folders, of which
            the targets that the configuration names are attempted.
        progress: hears what is being done.
        launcher: warm workers to use; they are started and ended here by default.

    Raises:
        ConfigError: as ``lint``.
    """
    settings = _read_where_attempted(settings, options)
    requests = [*requests, *configured(requests, settings)]
    if settings.purpose == "export" and options.backends == DEFAULT_BACKENDS:
        options = replace(options, backends=("script", "export"))
    settings = replace(settings, purpose=_purpose(settings, options))
    planned = plan(requests, settings)
    report, sources = lint(planned, settings)
    errors = list(unknown_names(options, settings))
    if errors or not report.targets:
        return replace(report, errors=(*report.errors, *errors)), sources
    try:
        with _site(options, settings, launcher) as site:
            told_to = progress or Progress()
            report = _attempted(report, requests, settings, options, site, sources, told_to)
            report = _told_of_another(report, site.environment.torch)
    except TorchUnavailable as reason:
        remedy = (
            ": install it with `pip install tsguard[torch]`, or name an interpreter that has it with --python"
        )
        told = Error(f"nothing was attempted: {unavailable(reason, remedy)}")
        report = replace(report, errors=(*report.errors, told))
    except ClusterUnavailable as reason:
        report = replace(report, errors=(*report.errors, Error(f"nothing was attempted: {reason}")))
    write_step_summary(report)
    return report, sources


def _purpose(settings: Settings, options: CheckOptions) -> Purpose:
    """For whose sake to judge: the findings are to be held against what is attempted."""
    backends = {*options.backends, *(b for target in settings.targets.values() for b in target.backends)}
    if not backends & EXPORTED:
        return settings.purpose
    return "migration" if backends - EXPORTED - {"script", "compile"} else "export"


def _read_where_attempted(settings: Settings, options: CheckOptions) -> Settings:
    """The settings with the packages, and so the torch, of the interpreter that attempts; unless they say others."""
    if options.python is None or settings.python is not None:
        return settings
    try:
        found = find_environment(settings.root, options.python)
    except NoEnvironment:
        return settings
    has_torch = found is not None and installed(found.folders) is not None
    return replace(settings, python=options.python) if has_torch else settings


def _told_of_another(report: Report, torch: str) -> Report:
    """The report, with a note if its code was judged for other releases than the torch that it was tried on."""
    release = ".".join(torch.split(".")[:2])
    if release in report.torch_tables.split(",") or report.torch_note is not None:
        return report
    note = f"checked for torch {report.torch_tables}, attempted with torch {torch}: the results may differ"
    return replace(report, torch_note=note)


def _site(
    options: CheckOptions, settings: Settings, launcher: Launcher | None
) -> AbstractContextManager[Site]:
    if options.scheduler is not None:
        return fleet(options.scheduler)
    return local_site(options.python, _workers(options, settings), launcher)


def _attempted(
    report: Report,
    requests: Sequence[Request],
    settings: Settings,
    options: CheckOptions,
    site: Site,
    sources: Sources,
    progress: Progress,
) -> Report:
    errors = list(missing_devices(options, settings, len(site.cuda)))
    jobs = plan(requests, settings).jobs
    assigned = list(assign(report.targets, jobs, requests, settings, options, len(site.cuda)))
    if options.require is not None or options.min_speedup is not None:
        errors += _left_out(requests, settings, nothing_is=not assigned)
    if not assigned:
        return replace(report, errors=(*report.errors, *errors))
    found: list[TargetAttempts] = []
    bounds = _bounds(options, settings, site.workers, assigned)
    parts: list[Breakdown | None] = [None] * len(assigned)
    try:
        found = attempt_all(site, [a.assignment for a in assigned], bounds, progress)
        for index, result in enumerate(found if options.breakdown else ()):
            progress.step(f"{result.subject.spec}: breakdown")
            parts[index] = break_down(site.run, result, bounds)
    except Interrupted as interruption:
        found = interruption.found
        report = replace(report, interrupted=True)
    except KeyboardInterrupt:
        report = replace(report, interrupted=True)
    report = _joined(report, assigned, found, parts, settings, sources)
    try:
        report = _compared(report, found, settings, options, sources)
    except UnusablePrevious as problem:
        errors.append(Error(str(problem)))
    environment = _environment(site, options)
    return replace(report, errors=(*report.errors, *errors), environment=environment)


def _left_out(requests: Iterable[Request], settings: Settings, *, nothing_is: bool) -> Iterator[Error]:
    """What was asked to meet a requirement, and is not attempted."""
    for request in requests:
        if is_notebook(request.path):
            why = "a notebook is linted only: move what has to work to a file"
        elif nothing_is and request.path.is_dir() and request.expression is None and not settings.targets:
            why = "a folder is linted only: name its files, or the targets in [tool.tsguard.targets]"
        else:
            continue
        yield Error(f"{request.given}: nothing shows whether the requirement is met, {why}", request.given)


def _workers(options: CheckOptions, settings: Settings) -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return options.workers or settings.jobs or max(cores // options.threads, 1)


def _bounds(options: CheckOptions, settings: Settings, workers: int, assigned: Sequence[Assigned]) -> Bounds:
    most = max(len(a.assignment.specs) for a in assigned)
    memory = options.memory_limit or max(_memory_mb() * 3 // 4 // workers, 2048)
    how = AttemptSettings(
        timing_seconds=options.time_budget / max(most, 1),
        threads=options.threads,
        confirm=True,
        dynamic=tuple(map(str, settings.dynamic)),
    )
    return Bounds(Limits(options.timeout, memory), how, options.save)


def _memory_mb() -> int:
    return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")) >> 20


def _joined(
    report: Report,
    assigned: Sequence[Assigned],
    found: Sequence[TargetAttempts],
    parts: Sequence[Breakdown | None],
    settings: Settings,
    sources: Sources,
) -> Report:
    findings = confirmed(report.findings, found)
    known = confirmed(report.known, found)
    by_spec = {a.target.target: (a, r, p) for a, r, p in zip(assigned, found, parts, strict=True)}
    targets, added = [], []
    for target in report.targets:
        if target.target in by_spec:
            own, result, part = by_spec[target.target]
            target = replace(_with_attempts(target, result, known), breakdown=part)
            added += [*shown_by(target, result, known), *unmet(target, own.demands)]
        targets.append(target)
    return _renumbered(report, [*findings, *_wanted(added, settings, sources)], targets)


def _with_attempts(target: TargetReport, found: TargetAttempts, known: Iterable[Finding]) -> TargetReport:
    inputs = " ".join(map(input_option, found.inputs)) if found.inputs is not None else found.source
    attempted = replace(target, attempts=tuple(found.attempts.values()))
    return replace(
        with_verdicts_held(attempted),
        constructor=found.constructor,
        inputs=inputs,
        guessed=found.guessed,
        blockers=tuple(b.error for b in found.blockers if not b.follow_up),
        recommendation=None if found.interrupted else recommend(target, found, known).text,
        not_attempted=why_not(found),
    )


def _compared(
    report: Report,
    found: Sequence[TargetAttempts],
    settings: Settings,
    options: CheckOptions,
    sources: Sources,
) -> Report:
    if options.previous is None:
        return report
    before = previous_attempts(options.previous)
    left_out = {f.subject.spec for f in found if f.interrupted}
    compared = [target for target in report.targets if target.target not in left_out]
    added = [f for target in compared for f in regressions(target, before)]
    return _renumbered(report, [*report.findings, *_wanted(added, settings, sources)], report.targets)


def _wanted(findings: Iterable[Finding], settings: Settings, sources: Sources) -> list[Finding]:
    """Those that are selected and that no comment hides, each spanning the code on its line."""
    return [
        _spanning(f, sources.line(f.path, f.line))
        for f in findings
        if settings.selection.selects(f.code)
        and not any(hides(comment, f) for comment in suppressions(sources.file(f.path)))
    ]


def _spanning(finding: Finding, line: str) -> Finding:
    """An attempt tells the line of a finding only."""
    code = line.strip()
    column = line.index(code) + 1
    return replace(finding, column=column, end_column=column + len(code))


def _renumbered(report: Report, findings: Sequence[Finding], targets: Iterable[TargetReport]) -> Report:
    ordered = sorted(findings, key=lambda f: (f.path, f.line, f.column, f.code, f.message))
    numbered, referring = number(ordered, targets)
    return replace(report, findings=numbered, targets=referring)


def _environment(site: Site, options: CheckOptions) -> tuple[tuple[str, str], ...]:
    told = {
        "torch": site.environment.torch,
        "python": site.environment.python,
        "cpu": _cpu_name(),
        "threads": str(options.threads),
        **{f"cuda:{index}": name for index, name in enumerate(site.cuda)},
    }
    return tuple(told.items())


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        import platform

        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "unknown")
