"""Repair what is requested: the targets found by lint, torch's workers started, one repair after the other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from tsguard.linting.run import lint
from tsguard.repairing.loop import repair_all
from tsguard.repairing.results import Repaired
from tsguard.report import Error, Report
from tsguard.runtime.assigning import assign
from tsguard.runtime.launcher import Launcher, TorchUnavailable, unavailable
from tsguard.runtime.options import CheckOptions
from tsguard.runtime.task import Limits
from tsguard.settings.config import Settings
from tsguard.settings.requests import Job, Plan, Request, plan
from tsguard.source.text import is_notebook


def run(
    requests: Sequence[Request],
    settings: Settings,
    inputs: tuple[str, ...],
    python: Path | None,
    seconds: float,
    tell: Callable[[str], None],
) -> tuple[list[Repaired], tuple[Error, ...]]:
    """Repair the targets that are requested, on a copy; nothing is written.

    Args:
        inputs: expressions for the arguments of ``forward``, () to find some.
        python: the interpreter that has torch, None for ours.
        seconds: the most that one step of one target may take.

    Raises:
        ConfigError: as ``lint``.
    """
    planned = plan(requests, settings)
    report, _ = lint(planned, settings)
    errors = (*report.errors, *_unusable(requests, planned, report))
    options = CheckOptions(inputs=inputs, devices=("cpu",), modes=("eval",), backends=("script",))
    assigned = assign(report.targets, planned.jobs, requests, settings, options, 0)
    subjects = [a.assignment.subject for a in assigned if a.assignment.subject.kind == "module"]
    try:
        with Launcher(str(python) if python is not None else None) as launcher:
            done = repair_all(launcher, subjects, settings, Limits(seconds), tell)
    except TorchUnavailable as reason:
        told = f"nothing was repaired: {unavailable(reason, '')}; `tsguard lint --fix` needs no torch"
        return [], (*errors, Error(told))
    return done, errors


def _unusable(requests: Sequence[Request], planned: Plan, report: Report) -> Iterator[Error]:
    """What was requested and holds nothing to repair: folders, files without a module or that cannot be read."""
    broken = {f.path: f for f in report.findings if f.code in ("TSG001", "TSG002")}
    kinds = {(target.path, target.target): target.kind for target in report.targets}
    failed = {error.path for error in report.errors}
    for request in requests:
        if request.given and request.path.is_dir():
            yield Error(f"{request.given} is a folder: name the files that are to be repaired")
    for job in planned.jobs:
        named = [spec for spec, _ in job.named if kinds.get((job.shown, spec)) == "function"]
        yield from (Error(f"{spec} is a function: only modules are repaired") for spec in named)
        if job.shown in broken:
            yield Error(broken[job.shown].message.replace("this file", job.shown, 1), job.shown)
        elif job.whole and job.shown not in failed and not _has_module(job, kinds, requests):
            yield Error(f"{job.shown} has no module to repair", job.shown)


def _has_module(job: Job, kinds: Mapping[tuple[str, str], str], requests: Sequence[Request]) -> bool:
    """Whether there is something to repair in a file that was asked for; a folder's files were not, one by one."""
    asked = any(os.path.abspath(request.path) == str(job.path) for request in requests)
    return (
        not asked
        or is_notebook(job.path)
        or any(path == job.shown and kind == "module" for (path, _), kind in kinds.items())
    )
