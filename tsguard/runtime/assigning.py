"""From the targets of a report to what is attempted on each."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Literal, cast

from tsguard.project.finding import Finder
from tsguard.report import Error, TargetReport
from tsguard.runtime.attempts import Assignment
from tsguard.runtime.options import BACKEND_NAMES, CheckOptions, Required
from tsguard.runtime.plan import AttemptSpec
from tsguard.runtime.requirements import Requirements
from tsguard.runtime.subject import Subject
from tsguard.settings.config import Settings, TargetSettings
from tsguard.settings.requests import Job, Request, parse
from tsguard.source.text import is_notebook

_NOTHING = TargetSettings()
_CONFIGURABLE = {field.name for field in fields(TargetSettings)}


@dataclass(frozen=True, slots=True)
class Assigned:
    """A target of the report, what to attempt on it, and what is demanded of it."""

    target: TargetReport
    assignment: Assignment
    demands: Requirements


def configured(requests: Sequence[Request], settings: Settings) -> list[Request]:
    """Requests for the configured targets that lie in the requested folders; for all without requests."""
    folders = [Path(os.path.abspath(r.path)) for r in requests if r.path.is_dir()]
    found = []
    for name in settings.targets:
        request = parse(_absolute(name, settings), settings)
        path = Path(os.path.abspath(request.path))
        if not requests or any(path.is_relative_to(folder) for folder in folders):
            found.append(Request(name, Path(os.path.relpath(path)), request.expression))
    return found


def _absolute(name: str, settings: Settings) -> str:
    path, colon, expression = name.partition(".py:")
    return f"{settings.root / path}.py:{expression}" if colon else name


def unknown_names(options: CheckOptions, settings: Settings) -> Iterator[Error]:
    """What no backend, mode or device is called."""
    tables = [("the command line", options.backends, options.modes)]
    tables += [(f"target {name!r}", t.backends, t.modes) for name, t in settings.targets.items()]
    for place, backends, modes in tables:
        for name in backends:
            if name not in BACKEND_NAMES:
                yield Error(f"{place}: no backend {name!r}; there are {', '.join(BACKEND_NAMES)}")
        for name in modes:
            if name not in ("eval", "train"):
                yield Error(f"{place}: no mode {name!r}; there are eval and train")


def assign(
    targets: Iterable[TargetReport],
    jobs: Iterable[Job],
    requests: Iterable[Request],
    settings: Settings,
    options: CheckOptions,
    cuda_devices: int,
) -> Iterator[Assigned]:
    """The attempts to make on each target that was named, or lies in a file that was."""
    requests = list(requests)
    files = {os.path.abspath(r.path) for r in requests if r.expression is None and r.path.is_file()}
    by_shown = {job.shown: job for job in jobs}
    finder = Finder(tuple(settings.search_paths))
    for target in targets:
        job = by_shown[target.path]
        expression = dict(job.named).get(target.target)
        if is_notebook(job.path):
            continue  # nothing imports it
        if expression is None and str(job.path) not in files:
            continue
        own = _settings_of(job, expression or target.qualname, settings)
        own = replace(own, **{name: getattr(_NOTHING, name) for name in options.given & _CONFIGURABLE})
        inputs = own.inputs or options.inputs
        subject = _subject(target, job, expression, finder, settings, inputs, own.constructor)
        specs = tuple(_specs(subject, own, options, cuda_devices))
        if not specs:
            continue  # on no device that is there
        require = cast("Required | None", own.require or options.require)
        floor = own.min_speedup if own.min_speedup is not None else options.min_speedup
        yield Assigned(target, Assignment(subject, specs), Requirements(require, floor))


def _settings_of(job: Job, expression: str, settings: Settings) -> TargetSettings:
    for name, table in settings.targets.items():
        path, colon, wanted = _absolute(name, settings).partition(".py:")
        if colon and os.path.abspath(f"{path}.py") == str(job.path) and wanted == expression:
            return table
    return _NOTHING


def _subject(
    target: TargetReport,
    job: Job,
    expression: str | None,
    finder: Finder,
    settings: Settings,
    inputs: tuple[str, ...],
    constructor: str | None,
) -> Subject:
    module = finder.of_file(job.path, shown=job.shown)
    called = expression is not None and "(" in expression
    return Subject(
        spec=target.target,
        file=str(job.path),
        shown=job.shown,
        root=str(module.root),
        module=module.name,
        qualname=target.qualname,
        kind=target.kind,
        constructor=constructor or (expression if called else None),
        inputs=inputs or None,
        search_paths=tuple(map(str, settings.import_folders)),
    )


def _specs(
    subject: Subject, own: TargetSettings, options: CheckOptions, cuda_devices: int
) -> Iterator[AttemptSpec]:
    """All combinations, grouped by device, mode and dtype; a function has no mode to train in."""
    modes = own.modes or options.modes
    is_asked_for = bool(own.modes) or "modes" in options.given or modes != CheckOptions().modes
    if subject.kind == "function" and subject.constructor is None and not is_asked_for:
        modes = ("eval",)
    wanted = _devices(own.devices or options.devices, cuda_devices)
    for device in (name for name in wanted if not _is_missing(name, cuda_devices)):
        for mode in dict.fromkeys(modes):
            for dtype in (None, *options.dtypes):
                for backend in _with_open_sizes(own.backends or options.backends, mode):
                    yield AttemptSpec(backend, device, cast("Literal['eval', 'train']", mode), dtype)


def _with_open_sizes(backends: Iterable[str], mode: str) -> Iterator[str]:
    """The backends; whoever exports wants to know for inference whether other batches may come, too."""
    wanted = dict.fromkeys(backends)
    for backend in wanted:
        yield backend
        if backend == "export" and mode == "eval" and "export_dynamic" not in wanted:
            yield "export_dynamic"


def _devices(wanted: Iterable[str], cuda_devices: int) -> list[str]:
    found: dict[str, None] = {}
    for name in wanted:
        if name == "auto":
            found |= dict.fromkeys(["cpu", *(f"cuda:{i}" for i in range(cuda_devices))])
        else:
            found[f"{name}:0" if name == "cuda" else name] = None
    return list(found)


def missing_devices(options: CheckOptions, settings: Settings, cuda_devices: int) -> Iterator[Error]:
    """Devices that were asked for and are not there."""
    wanted = [*options.devices, *(d for table in settings.targets.values() for d in table.devices)]
    for device in dict.fromkeys(_devices(wanted, cuda_devices)):
        if device.startswith("cuda:") and _is_missing(device, cuda_devices):
            yield Error(f"no device {device}: torch sees {cuda_devices} CUDA devices here")
        elif _is_missing(device, cuda_devices):
            yield Error(f"no device {device!r}; there are auto, cpu, cuda and cuda:N")


def _is_missing(device: str, cuda_devices: int) -> bool:
    kind, _, index = device.partition(":")
    return device != "cpu" and not (kind == "cuda" and index.isdigit() and int(index) < cuda_devices)
