"""The judge of files under edit: it keeps what it has read, and judges what an edit concerns."""

from __future__ import annotations

import gc
import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tsguard.analysis.python import Program
from tsguard.incremental.judging import Found, Judging
from tsguard.inspection.inspecting import Inspection, inspect
from tsguard.project import Project
from tsguard.report import Purpose
from tsguard.settings.dynamic import OpenSizes
from tsguard.settings.requests import Job
from tsguard.source import SourceFile

# A project keeps the trees of all that it has read: it is begun anew after so much source.
_MOST_BYTES = 10_000_000


@dataclass(slots=True)
class _Judged:
    """A file as last judged; ``found`` is what was found of the last text that could be parsed."""

    job: Job
    inspection: Inspection
    found: Found | None = None
    behind: frozenset[Path] = frozenset()


class Judge:
    """Files of one project, judged over and over.

    What it gives is what ``tsguard.inspection.inspecting.inspect`` gives of the files as they are.
    To be used by one thread at a time.

    Args:
        paths: folders in which imported packages are looked for.
        complete: whether a package that is not there is not installed.
        release: the torch release whose tables serve, such as "2.13".
        purpose: for whose sake traces are judged.
        open_sizes: what torch.export is to leave open, () for the first size of each tensor, None where
            it is not asked.
    """

    def __init__(
        self,
        paths: tuple[Path, ...],
        complete: bool,
        release: str,
        purpose: Purpose = "trace",
        open_sizes: tuple[OpenSizes, ...] | None = (),
    ) -> None:
        self._paths, self._complete = paths, complete
        self._release, self._purpose = release, purpose
        self._open_sizes = open_sizes
        self._judged: dict[Path, _Judged] = {}
        self._begin()

    def _begin(self) -> None:
        self.program = Program(Project(self._paths, None, self._complete), self._release, self._open_sizes)
        self._stamps: dict[Path, tuple[int, int] | None] = {}
        self._read = 0
        self._is_larger = False
        self._judged.clear()
        gc.unfreeze()

    def inspect(self, job: Job) -> Inspection:
        """What a file adds to a report; ``job.text`` stands for what is on disk.

        Other files are taken as this was last told of them; see ``refresh``.
        """
        text = job.text if job.text is not None else SourceFile.read(job.path).text
        before = self._judged.get(job.path)
        if before is not None and before.job == Job(job.path, job.shown, job.whole, job.named, text):
            return before.inspection
        if self._read > _MOST_BYTES:
            self._begin()
            before = None
        self._read += len(text)
        job = Job(job.path, job.shown, job.whole, job.named, text)
        self._forget([job.path], but=job.path)
        if before is not None and job.path in before.behind:
            before = None  # its meaning goes round by other files
        with _collecting_later():
            if before is None:
                judged = self._anew(job, None)
                self._is_larger = True
            else:
                with self.program.trying():
                    judged = self._anew(job, before)
        self._judged[job.path] = judged
        self._stamp()
        return judged.inspection

    def rest(self) -> None:
        """Do away with what judgements have left behind: for when nobody waits."""
        gc.collect()
        if self._is_larger:
            gc.freeze()  # what is kept need not be looked through at each collection
            self._is_larger = False

    def refresh(self, changed: Iterable[Path] = ()) -> bool:
        """Notice files that have changed on disk, those among ``changed`` that have come or gone included.

        Returns:
            Whether files that were judged rest on any of them.
        """
        other = [
            path for path, stamp in self._stamps.items() if path not in self._judged and _stat(path) != stamp
        ]
        return self._forget({*changed, *other})

    def _forget(self, paths: Collection[Path], but: Path | None = None) -> bool:
        changed = {*paths, *self.program.forget(paths)}
        concerned = [
            path
            for path, judged in self._judged.items()
            if path != but and (path in changed or not judged.behind.isdisjoint(changed))
        ]
        for path in concerned:
            del self._judged[path]
        for path in changed:
            self._stamps.pop(path, None)
        return bool(concerned)

    def _stamp(self) -> None:
        for path in self.program.project.finder.files_read:
            if path not in self._stamps:
                self._stamps[path] = _stat(path)

    def _anew(self, job: Job, before: _Judged | None) -> _Judged:
        judging = Judging(self.program, job, before.found if before is not None else None)
        inspection = inspect(self.program, job, self._purpose, judging.known)
        finder = self.program.project.finder
        behind = frozenset(finder.files_behind(finder.of_file(job.path)))
        if before is not None:
            behind |= before.behind
        return _Judged(job, inspection, judging.outcome(inspection), behind)


@contextmanager
def _collecting_later() -> Iterator[None]:
    """Without Python's cyclic collector, which would look through every new tree several times."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _stat(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
