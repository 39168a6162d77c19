"""The static pipeline: the files of a plan, judged and made into one report."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tsguard.inspection.inspecting import EarlierInspection, Inspection, inspect, killed
from tsguard.language.releases import ways
from tsguard.linting.assembly import NOT_ALWAYS_FOUND, condensed, merge, number, suppress
from tsguard.linting.cells import findings_in_cells, target_in_cell
from tsguard.linting.garbage_collection import Memory, infrequent_collection
from tsguard.report import Error, Finding, Packages, Purpose, Report
from tsguard.report.records import dataclass, replace
from tsguard.rules import covers
from tsguard.settings.config import ConfigError, Settings
from tsguard.settings.dynamic import OpenSizes
from tsguard.settings.environment import Environment, NoEnvironment, find_environment
from tsguard.settings.requests import Job, Plan
from tsguard.settings.torch_release import Judged, NoTables, judged_for
from tsguard.source.outlines import Outlines
from tsguard.source.patterns import Patterns
from tsguard.source.sources import Sources
from tsguard.version import __version__

if TYPE_CHECKING:
    from tsguard.analysis.python import Program
    from tsguard.project import Project

# Starting a worker costs as much as judging about this much source.
_BYTES_PER_WORKER = 150_000

# An inspection and the files that it rests on; None for them where it came about by chance.
_Outcome = tuple[Inspection, frozenset[str] | None]


@dataclass(frozen=True, slots=True)
class _Context:
    """What a judgement rests on beside the file: where imports are found, torch's tables, what for, open sizes.

    ``complete`` paths hold all that is installed.
    ``outlines`` tell where what is kept of installed files lies, and by whom: compiled objects go to no other process.
    """

    paths: tuple[Path, ...]
    complete: bool
    release: str
    purpose: Purpose
    open_sizes: tuple[OpenSizes, ...] | None
    outlines: tuple[Path, str] | None = None

    def project(self) -> Project:
        from tsguard.project import Project

        outlines = Outlines(*self.outlines) if self.outlines is not None else None
        return Project(self.paths, outlines, self.complete)


def lint(
    plan: Plan, settings: Settings, *, progress: Callable[[], None] = lambda: None
) -> tuple[Report, Sources]:
    """Judge the files of a plan; the report, and the sources that its findings lie in.

    ``progress`` is called once for each file.

    Raises:
        ConfigError: the baseline, the Python or the torch version of the settings is of no use.
    """
    return assemble(plan, inspect_files(plan.jobs, settings, progress), settings)


def assemble(plan: Plan, inspections: Sequence[Inspection], settings: Settings) -> tuple[Report, Sources]:
    """Make one report of what was found in the files of a plan.

    Raises:
        ConfigError: the baseline cannot be used.
    """
    baseline = None
    if settings.baseline is not None:
        from tsguard.linting.baseline import Baseline

        baseline = Baseline.read(settings.baseline)
    sources = Sources({job.shown: job.text for job in plan.jobs if job.text is not None})
    known = merge(f for i in map(condensed, inspections) for f in (*i.findings, *i.merged))
    findings = suppress(known, inspections, sources)
    own = frozenset(job.shown for job in plan.jobs)
    findings = [_asked_for(finding, own, plan.mended) for finding in _selected(findings, settings)]
    use = None
    if baseline is not None:
        findings, use = baseline.use(findings, sources, _judged(plan, inspections, settings))
    read = environment(settings)
    numbered, targets = number(
        findings_in_cells(findings, sources),
        (target_in_cell(t.report, sources) for i in inspections for t in i.targets),
    )
    judged = judged_releases(settings)
    report = Report(
        tsguard_version=__version__,
        torch_tables=str(judged),
        torch_told_by=judged.told_by,
        torch_note=judged.note or _note_on_export(judged, settings.purpose),
        findings=numbered,
        targets=targets,
        files=len(plan.jobs),
        errors=(
            *plan.errors,
            *(error for i in inspections for error in i.errors),
            *_not_there(plan, settings),
        ),
        purpose=settings.purpose,
        known=tuple(findings_in_cells(known, sources)),
        baseline=use and replace(use, accepted=tuple(findings_in_cells(use.accepted, sources))),
        packages=Packages(str(read.path), read.source) if read is not None else None,
    )
    return report, sources


def _note_on_export(judged: Judged, purpose: Purpose) -> str | None:
    """What is to be known where an old torch.export is asked for: by default it is another, and not judged."""
    if purpose != "export" or ways(judged.releases[0]).slices_by_data:
        return None
    return "torch.export is checked as in torch 2.13 and newer: older releases refuse more, so that the verdict is unknown"


def _not_there(plan: Plan, settings: Settings) -> Iterator[Error]:
    """Inputs that were asked for by a name that none has."""
    if not settings.demanded:
        return
    from tsguard.linting.asked_inputs import inputs_not_there
    from tsguard.project import Project

    project = Project(search_paths(settings), None, is_complete(settings))
    yield from inputs_not_there(settings.demanded, plan.jobs, project)


def _judged(plan: Plan, inspections: Iterable[Inspection], settings: Settings) -> Callable[[str, str], bool]:
    """Whether findings of a code in a file would have been found; what only attempts show is not."""
    failed = {i.shown for i in inspections if not i.whole or any(f.family == "tool" for f in i.findings)}
    whole = {str(job.path) for job in plan.jobs if job.shown not in failed}
    return lambda path, code: (
        path in whole and not code.startswith(NOT_ALWAYS_FOUND) and settings.selection.selects(code)
    )


def _asked_for(finding: Finding, own: frozenset[str], mended: Path | None) -> Finding:
    """A finding; in files that were not asked for, nothing is to be fixed."""
    if finding.fix is None:
        return finding
    others = {path for path in (finding.path, *(e.path for e in finding.fix.edits)) if path not in own}
    if all(mended is not None and Path(os.path.abspath(path)).is_relative_to(mended) for path in others):
        return finding
    return replace(finding, fix=None)


def search_paths(settings: Settings) -> tuple[Path, ...]:
    """Folders in which imported packages are looked for.

    Raises:
        ConfigError: the settings name a Python that has no packages.
    """
    found = environment(settings)
    return tuple(dict.fromkeys((*settings.import_folders, *(found.folders if found else ()))))


def is_complete(settings: Settings) -> bool:
    """Whether a package that is not in the folders in which it is looked for is not installed.

    Raises:
        ConfigError: the settings name a Python that has no packages.
    """
    found = environment(settings)
    return found is not None and not found.is_of_tool


def environment(settings: Settings) -> Environment | None:
    """The environment whose packages are read; None where there is none.

    Raises:
        ConfigError: the settings name a Python that has no packages.
    """
    try:
        return find_environment(settings.root, settings.python)
    except NoEnvironment as error:
        raise ConfigError(str(error)) from None


def judged_releases(settings: Settings) -> Judged:
    """The torch releases that the settings, or else the environment, have code judged for.

    Raises:
        ConfigError: the settings name a Python that has no packages, or a torch without tables.
    """
    try:
        return judged_for(settings.torch_version, search_paths(settings), settings.root)
    except NoTables as error:
        raise ConfigError(str(error)) from None


def _selected(findings: Iterable[Finding], settings: Settings) -> Iterator[Finding]:
    per_file = [(Patterns(settings.root, (p,)), selectors) for p, selectors in settings.per_file_ignores]
    for finding in findings:
        path = Path(os.path.abspath(finding.path))
        ignored = any(
            any(covers(selector, finding.code) for selector in selectors) and patterns.verdict(path)
            for patterns, selectors in per_file
        )
        if not ignored and settings.selection.selects(finding.code):
            yield _graded(finding, settings)


def _graded(finding: Finding, settings: Settings) -> Finding:
    """A finding with the severity that the narrowest selector of the configuration gives it."""
    fitting = [pair for pair in settings.severity if covers(pair[0], finding.code)]
    if not fitting:
        return finding
    return replace(finding, severity=max(fitting, key=lambda pair: len(pair[0]))[1])


def inspect_files(
    jobs: Sequence[Job], settings: Settings, progress: Callable[[], None] = lambda: None
) -> list[Inspection]:
    """What each file adds to a report, from the cache where that still holds.

    Raises:
        ConfigError: the Python or the torch version of the settings is of no use.
    """
    paths, complete = search_paths(settings), is_complete(settings)

    newest, *others = reversed(judged_releases(settings).releases)

    def inspect_for(release: str, asked: Sequence[Job], told: Callable[[], None]) -> list[Inspection]:
        context = _Context(paths, complete, release, settings.purpose, settings.left_open)
        # The targets of several releases are put together with what was found of each.
        return _inspect_for(context, asked, settings, told, _whole if others else condensed)

    found = {newest: inspect_for(newest, jobs, progress)}
    if not others:
        return found[newest]
    from tsguard.linting.parting import together

    found = {r: inspect_for(r, jobs, _untold) for r in reversed(others)} | found
    return together(jobs, found, lambda again, release: inspect_for(release, again, _untold))


def _whole(inspection: Inspection) -> Inspection:
    return inspection


def _untold() -> None:
    """The files that are judged again for another release are not counted."""


def _inspect_for(
    context: _Context,
    jobs: Sequence[Job],
    settings: Settings,
    progress: Callable[[], None],
    kept_as: Callable[[Inspection], Inspection],
) -> list[Inspection]:
    cache = None
    if settings.cache:
        from tsguard.linting.cache import Cache
        from tsguard.project.editable import editable_packages

        packages = editable_packages(context.paths)
        cache = Cache(
            f"{context.paths}\0{context.complete}\0{packages}\0{context.purpose}\0{context.open_sizes}",
            context.release,
        )
        context = replace(context, outlines=cache.outlines)
    done = {job: kept_as(kept) for job in jobs if cache and (kept := cache.get(job)) is not None}
    for _ in done:
        progress()
    todo = [job for job in jobs if job not in done]
    edited = {job: was for job in todo if cache and (was := cache.before_edit(job)) is not None}
    for job, (inspection, files) in zip(
        todo, _inspect_all(todo, edited, context, settings.jobs), strict=True
    ):
        done[job] = kept_as(inspection)
        if cache and files is not None:
            cache.put(job, inspection, files)
        progress()
    if cache and todo:
        cache.trim()
    return [done[job] for job in jobs]


def _inspect_all(
    jobs: Sequence[Job], edited: Mapping[Job, EarlierInspection], context: _Context, wanted: int
) -> Iterator[_Outcome]:
    workers = min(wanted or _cores(), sum(map(_size, jobs)) // _BYTES_PER_WORKER)
    if workers < 2:
        yield from _inspect_chunk(jobs, edited, context)
        return
    from tsguard.linting.workers import Work, run_in_processes

    work = Work(partial(_inspect_listed, edited=edited, context=context), _killed)
    yield from run_in_processes(work, list(_chunks(jobs, _BYTES_PER_WORKER)), workers)


def _killed(job: Job, ending: str) -> _Outcome:
    return killed(job, ending), None


def _inspect_listed(
    jobs: Sequence[Job], edited: Mapping[Job, EarlierInspection], context: _Context
) -> list[_Outcome]:
    return list(_inspect_chunk(jobs, edited, context))


def _inspect_chunk(
    jobs: Iterable[Job], edited: Mapping[Job, EarlierInspection], context: _Context
) -> Iterator[_Outcome]:
    from tsguard.analysis.python import Program

    program, memory = None, Memory()
    with infrequent_collection():
        for job in jobs:
            if program is not None and memory.is_full():
                program = None
                memory.collect()
            if program is None:
                program = Program(context.project(), context.release, context.open_sizes)
            gc.freeze()
            yield _inspected(program, job, edited.get(job), context)


def _inspected(program: Program, job: Job, before: EarlierInspection | None, context: _Context) -> _Outcome:
    """What a file comes to, with the files that this rests on."""
    if before is None:
        inspection, files = inspect(program, job, context.purpose), frozenset[str]()
    else:
        from tsguard.incremental.judging import inspect_again

        inspection = inspect_again(
            program, job, context.purpose, replace(context, outlines=None).project, before
        )
        files = before.files
    finder = program.project.finder
    behind = finder.files_behind(program.project.module(job.path)) | finder.files_looked_through()
    return inspection, files.union(map(str, behind))


def _chunks(jobs: Sequence[Job], most: int) -> Iterator[list[Job]]:
    """Runs of neighbouring jobs of about as many bytes each."""
    chunk: list[Job] = []
    size = 0
    for job in jobs:
        chunk.append(job)
        size += _size(job)
        if size >= most:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _size(job: Job) -> int:
    if job.text is not None:
        return len(job.text)
    try:
        return os.path.getsize(job.path)
    except OSError:
        return 0


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
