"""Fix what can be fixed in the files of a plan, until nothing more can."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from pathlib import Path

from tsguard.fixes.applying import applied
from tsguard.linting.run import lint
from tsguard.repairing.settling import settled
from tsguard.report import Error, Report, is_fixable
from tsguard.report.records import dataclass
from tsguard.settings.config import Settings
from tsguard.settings.requests import Job, Plan
from tsguard.source import SourceFile
from tsguard.source.sources import Sources
from tsguard.source.text import encoding_of

# One fix may bring another to light, or have waited for it; more rounds than this are a bug.
_ROUNDS = 20


@dataclass(frozen=True, slots=True)
class Change:
    """A file's text before and after its fixes."""

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Fixed:
    """What remains, with the number of ``fixed`` in the report, and the changes by the files' shown paths."""

    report: Report
    sources: Sources
    changes: Mapping[str, Change] = field(default_factory=dict)


def fix(
    plan: Plan,
    settings: Settings,
    *,
    unsafe: bool = False,
    write: bool = True,
    progress: Callable[[], None] = lambda: None,
) -> Fixed:
    """Judge the files of a plan and fix them, over and over until nothing more can be fixed.

    Only the plan's own files are changed; those on disk only if ``write``.  One that cannot be written is an
    error in the report.

    Raises:
        ConfigError: as ``lint``.
    """
    report, sources = lint(plan, settings, progress=progress)
    spoiled: dict[str, str] = {}

    def step(now: _State) -> _State | None:
        return _next(now, settings, spoiled, unsafe, write)

    # Files see each other as they are on disk: places found after changes that are not there would be wrong.
    rounds = _ROUNDS if write or len(plan.jobs) == 1 else 1
    last, circles = settled(_State(plan, report, sources), step, _State.texts, rounds)
    errors = [Error(why, path) for path, why in sorted(spoiled.items())]
    if circles:
        errors += [Error("two fixes undo each other here", path) for path in sorted(last.changes)]
    report = replace(last.report, fixed=last.fixed, errors=(*last.report.errors, *errors))
    return Fixed(report, last.sources, last.changes)


@dataclass(frozen=True, slots=True)
class _State:
    """The files of a plan at one time, with what was changed so far."""

    plan: Plan
    report: Report
    sources: Sources
    changes: Mapping[str, Change] = field(default_factory=dict)
    fixed: int = 0

    def texts(self) -> frozenset[tuple[str, str]]:
        """What parts it from the files as they were, empty lines aside: a fix that is undone may leave one."""
        changed = ((path, change) for path, change in self.changes.items() if change.after != change.before)
        return frozenset((path, _without_empty_lines(change.after)) for path, change in changed)


def _without_empty_lines(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if line.strip())


def _next(
    now: _State, settings: Settings, spoiled: dict[str, str], unsafe: bool, write: bool
) -> _State | None:
    """The files after one round of fixes, written and judged again; None where there is nothing to fix."""
    repaired = _repaired(now.plan, now.report, now.sources, unsafe, spoiled)
    for job in now.plan.jobs:
        if write and job.text is None and job.shown in repaired:
            try:
                write_file(job.path, repaired[job.shown][0])
            except OSError as error:
                spoiled[job.shown] = f"{job.shown} cannot be changed: {error.strerror}"
                del repaired[job.shown]
    if not repaired:
        return None
    texts = {path: text for path, (text, _) in repaired.items()}
    count = sum(number for _, number in repaired.values())
    changes = dict(now.changes)
    for path, text in texts.items():
        old = changes.get(path)
        changes[path] = Change(old.before if old is not None else now.sources.file(path).text, text)
    plan = replace(now.plan, jobs=tuple(_with_text(job, texts, write) for job in now.plan.jobs))
    report, sources = lint(plan, settings)
    return _State(plan, report, sources, changes, now.fixed + count)


def _repaired(
    plan: Plan, report: Report, sources: Sources, unsafe: bool, spoiled: dict[str, str]
) -> dict[str, tuple[str, int]]:
    """New texts by path, and the number of fixes in each; a text that is no Python is ``spoiled`` instead."""
    texts: dict[str, tuple[str, int]] = {}
    fixes = [finding.fix for finding in report.findings if finding.fix and is_fixable(finding, unsafe)]
    for job in plan.jobs:
        # A fix may lie in another file than its finding, whose path may be written otherwise there.
        own = [fix for fix in fixes if {os.path.abspath(edit.path) for edit in fix.edits} == {str(job.path)}]
        if not own or job.shown in spoiled:
            continue
        file = sources.file(job.shown)
        if _is_broken(file):
            continue
        text, count = applied(file, own)
        if _is_broken(SourceFile(job.shown, text)):
            # One of them is at fault: the others are not to wait for it.
            whole = [fix for fix in own if not _is_broken(SourceFile(job.shown, applied(file, [fix])[0]))]
            text, count = applied(file, whole)
            if not count:
                text = applied(file, own)[0]
        if _is_broken(SourceFile(job.shown, text)):
            spoiled[job.shown] = "a fix would break the file, which is left unchanged"
        elif text != file.text:
            texts[job.shown] = text, count
    return texts


def _is_broken(file: SourceFile) -> bool:
    _ = file.tree  # only parsing tells
    return file.broken is not None


def _with_text(job: Job, texts: Mapping[str, str], write: bool) -> Job:
    kept = job.shown not in texts or (write and job.text is None)
    return job if kept else replace(job, text=texts[job.shown])


def write_file(path: Path, text: str) -> None:
    """Write a file in the encoding that it has."""
    path.write_bytes(text.encode(encoding_of(path.read_bytes())))
