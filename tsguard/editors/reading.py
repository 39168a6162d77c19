"""Files as an editor has them, judged under the configuration that serves each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from tsguard.incremental import Judge
from tsguard.inspection.inspecting import Inspection
from tsguard.linting.baseline import Baseline
from tsguard.linting.parting import together
from tsguard.linting.run import assemble, is_complete, judged_releases, search_paths
from tsguard.report import Finding, Purpose, Report
from tsguard.settings.config import ConfigError, Settings, find, load
from tsguard.settings.dynamic import OpenSizes
from tsguard.settings.requests import Job, Plan, Request, plan
from tsguard.source import SourceFile
from tsguard.source.discovery import Exclusions
from tsguard.source.sources import Sources


@dataclass(frozen=True)
class Reading:
    """One file as it was judged: its report, and what it was judged with."""

    path: Path
    text: str
    report: Report
    sources: Sources
    settings: Settings

    @cached_property
    def file(self) -> SourceFile:
        return self.sources.file(str(self.path))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings that lie in the file itself."""
        return tuple(finding for finding in self.report.findings if finding.path == str(self.path))


class Readers:
    """All that is judged for one editor; to be used by one thread at a time.

    ``complaints`` are what is wrong with configurations, each to be told once.
    """

    def __init__(self) -> None:
        self.complaints: list[str] = []
        self._told: set[str] = set()
        self._judges: dict[
            tuple[tuple[Path, ...], bool, str, Purpose, tuple[OpenSizes, ...] | None], Judge
        ] = {}

    def read(self, path: Path, text: str) -> Reading:
        """Judge a file whose text is ``text``; a file that is excluded has an empty report."""
        settings = self.settings([path])
        job = Job(path, str(path), text=text)
        jobs = () if _is_excluded(path, settings) else (job,)
        inspections = [self.inspect(job, settings) for job in jobs]
        report, sources = self._assembled(Plan((job,)), inspections, settings)
        return Reading(path, text, report, sources, settings)

    def folder(self, folder: Path, texts: dict[Path, str]) -> tuple[Plan, Settings]:
        """The files below a folder that are to be judged, those that are open with their ``texts``."""
        settings = self.settings([folder])
        planned = plan([Request(str(folder), folder)], settings)
        jobs = (
            replace(job, shown=str(job.path), text=texts.get(job.path, SourceFile.read(job.path).text))
            for job in planned.jobs
        )
        return replace(planned, jobs=tuple(jobs)), settings

    def inspect(self, job: Job, settings: Settings) -> Inspection:
        """Judge one file under its settings, for each torch release that they name."""
        releases = judged_releases(settings).releases

        def inspect(jobs: Sequence[Job], release: str) -> list[Inspection]:
            return [self.judge(settings, release).inspect(job) for job in jobs]

        if len(releases) == 1:
            return inspect([job], releases[0])[0]
        return together([job], {release: inspect([job], release) for release in releases}, inspect)[0]

    def assembled(self, planned: Plan, inspections: list[Inspection], settings: Settings) -> list[Reading]:
        """The files of a folder as they were judged, each with the findings that lie in it."""
        report, sources = self._assembled(planned, inspections, settings)
        return [Reading(job.path, job.text or "", report, sources, settings) for job in planned.jobs]

    def accept(self, reading: Reading, number: int) -> None:
        """Add the finding of this number to the baseline, if there is one."""
        file = reading.settings.baseline
        chosen = next((finding for finding in reading.report.findings if finding.id == number), None)
        if file is None or chosen is None:
            return
        # Alike findings are told apart by their order among all, accepted ones included.
        settings = replace(reading.settings, baseline=None)
        job = Job(reading.path, str(reading.path), text=reading.text)
        report, sources = assemble(Plan((job,)), [self.inspect(job, settings)], settings)
        same = [finding for finding in report.findings if replace(finding, id=number) == chosen]
        baseline = Baseline.read(file) if file.exists() else Baseline(file)
        baseline.adding(same, report.findings, sources).save()

    def judge(self, settings: Settings, release: str | None = None) -> Judge:
        """The judge of all files that see the same packages, for a torch release: the newest of the settings.

        Raises:
            ConfigError: the Python or the torch version of the settings is of no use.
        """
        release = release or judged_releases(settings).releases[-1]
        left_open = replace(settings, tells_export=False).left_open
        key = (search_paths(settings), is_complete(settings), release, settings.purpose, left_open)
        if key not in self._judges:
            self._judges[key] = Judge(*key)
        return self._judges[key]

    def refresh(self, changed: Iterable[Path] = ()) -> bool:
        """Notice changes on disk; whether anything that was judged rests on them."""
        paths = list(changed)
        concerned = [judge.refresh(paths) for judge in self._judges.values()]
        return any(concerned)

    def rest(self) -> None:
        """Tidy up while nobody waits."""
        for judge in self._judges.values():
            judge.rest()

    def settings(self, paths: list[Path]) -> Settings:
        """The configuration that serves some paths; the defaults where it cannot be used."""
        try:
            settings = load(find(paths))
            judged_releases(settings)
        except ConfigError as error:
            self._complain(str(error))
            return Settings(root=paths[0] if paths[0].is_dir() else paths[0].parent)
        return settings if settings.file is not None else replace(settings, root=_root(paths[0]))

    def _assembled(
        self, planned: Plan, inspections: list[Inspection], settings: Settings
    ) -> tuple[Report, Sources]:
        try:
            return assemble(planned, inspections, settings)
        except ConfigError as error:  # the baseline
            self._complain(str(error))
            return assemble(planned, inspections, replace(settings, baseline=None))

    def _complain(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self.complaints.append(text)


def _is_excluded(path: Path, settings: Settings) -> bool:
    return Exclusions(settings.root, settings.exclude, settings.extend_exclude).excludes(path)


def _root(path: Path) -> Path:
    """The folder of a project that has no configuration: the one that git keeps, else the path's own."""
    folder = path if path.is_dir() else path.parent
    return next((each for each in (folder, *folder.parents) if (each / ".git").exists()), folder)
