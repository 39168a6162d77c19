"""Inputs of which sizes are to be left open, and which no target has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from tsguard.project import Project
from tsguard.project.targets import TargetNotFound, find_target, input_names, targets_of
from tsguard.report import Error
from tsguard.report.likely import nearest
from tsguard.settings.dynamic import OpenSizes
from tsguard.settings.requests import Job

_MOST_SHOWN = 12


def inputs_not_there(wanted: Sequence[OpenSizes], jobs: Iterable[Job], project: Project) -> Iterator[Error]:
    """An error for each input that no target of the files has; none where an input may have any name."""
    found: dict[str, None] = {}
    for job in jobs:
        for names in _inputs(job, project):
            if names is None:
                return
            found |= dict.fromkeys(names)
    for one in wanted if found else ():
        name = re.split(r"[.\[]", one.input)[0]
        if name not in found:
            yield Error(f"--dynamic: no input is called {name!r}{_instead(name, list(found))}")


def _inputs(job: Job, project: Project) -> Iterator[tuple[str, ...] | None]:
    """The names of the inputs of each target that a file is asked about."""
    module = project.module(job.path, shown=job.shown, text=job.text)
    if job.whole:
        yield from (input_names(project, target) for target in targets_of(project, module))
    for _, expression in job.named:
        try:
            yield input_names(project, find_target(module, expression))
        except TargetNotFound:
            continue  # an error already


def _instead(name: str, found: Sequence[str]) -> str:
    near = nearest(name, found)
    if near:
        return f"; did you mean {near[0]!r}?"
    more = ", ..." if len(found) > _MOST_SHOWN else ""
    return f"; there are {', '.join(found[:_MOST_SHOWN])}{more}"
