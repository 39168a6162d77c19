"""One judgement of a file, which takes over what it can of an earlier one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from tsguard.analysis.api import import_failure
from tsguard.analysis.python import Program
from tsguard.incremental.carrying import Carried, carry, flags_of
from tsguard.incremental.outline import Outline
from tsguard.inspection.deep_stack import on_deep_stack
from tsguard.inspection.inspecting import EarlierInspection, InspectedTarget, Inspection, inspect
from tsguard.project import Project, Target
from tsguard.project.targets import is_only_scripted, targets_of
from tsguard.report import Purpose
from tsguard.report.records import dataclass
from tsguard.settings.requests import Job


@dataclass(frozen=True, slots=True)
class Found:
    """What was found of the targets of a file, and the file as it was then."""

    outline: Outline
    targets: dict[str, Carried]


def inspect_again(
    program: Program, job: Job, purpose: Purpose, project: Callable[[], Project], earlier: EarlierInspection
) -> Inspection:
    """What ``inspect`` gives of a file that alone has changed since an earlier run, which saw such a ``project``."""
    if job.named or purpose == "migration":  # the parts of a target are not told from its text alone
        return inspect(program, job, purpose)
    release, sizes = program.tables.release, program.open_sizes
    before = on_deep_stack(lambda: _found_before(job, earlier, Program(project(), release, sizes)))
    if before is None:
        return inspect(program, job, purpose)
    return inspect(program, job, purpose, Judging(program, job, before).known)


def _found_before(job: Job, earlier: EarlierInspection, program: Program) -> Found | None:
    """What an earlier run has found, in a program of its own: nothing may stay of what the file was.

    None where that says nothing of the text of now: the file was broken or could not be imported.
    """
    inspection = earlier.inspection
    module = program.project.module(job.path, shown=job.shown, text=earlier.text)
    _ = module.file.tree  # only parsing tells whether the file is broken
    if module.file.broken is not None or import_failure(program, module) is not None:
        return None
    outline = Outline(module)
    counts = Counter(inspected.report.qualname for inspected in inspection.targets)
    known = {i.report.qualname: i for i in inspection.targets if counts[i.report.qualname] == 1}
    targets: dict[str, Carried] = {}
    for target in targets_of(program.project, module):
        inspected = known.get(target.qualname)
        if inspected is not None and inspected.report.line == target.line:
            flags = flags_of(target, is_only_scripted(program.project, target))
            targets[target.qualname] = Carried(inspected, flags, outline, outline.closure(target.line))
    return Found(outline, targets)


class Judging:
    """One judgement of a file, which takes over what it can of the one before."""

    def __init__(self, program: Program, job: Job, before: Found | None) -> None:
        self._program = program
        self._job = job
        self._before = before
        self._outline: Outline | None = None
        self._carried: dict[str, Carried] = {}
        self._open: dict[str, tuple[Target, tuple[str, bool, bool, bool]]] = {}

    def known(self, target: Target) -> InspectedTarget | None:
        """What the judgement before says of a target, if nothing that it rests on has changed."""
        if import_failure(self._program, target.module) is not None or self._job.named:
            return None
        before = self._before
        if self._outline is None:
            self._outline = Outline(target.module, before.outline if before is not None else None)
        flags = flags_of(target, is_only_scripted(self._program.project, target))
        earlier = before.targets.get(target.qualname) if before is not None else None
        if earlier is not None:
            carried = carry(earlier, flags, self._outline, target.line, self._job.shown)
            if carried is not None:
                self._carried[target.qualname] = carried
                return carried.inspected
        self._open[target.qualname] = (target, flags)
        return None

    def outcome(self, inspection: Inspection) -> Found | None:
        """What the next judgement may take over."""
        if self._outline is None:
            return self._before
        outline = self._outline
        for inspected in inspection.targets:
            qualname = inspected.report.qualname
            if qualname in self._open:
                target, flags = self._open[qualname]
                closure = outline.closure(target.line)
                self._carried[qualname] = Carried(inspected, flags, outline, closure)
        return Found(outline, self._carried)
