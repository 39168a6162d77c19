"""``tsguard loader``: from a target in a file to the report on its DataLoader."""

from __future__ import annotations

import ast
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from tsguard.analysis.pipeline.context import Pipeline
from tsguard.analysis.pipeline.loaders import Loader
from tsguard.linting.run import judged_releases, search_paths
from tsguard.project import Project
from tsguard.project.modules import Module
from tsguard.report import Error, Report
from tsguard.runtime.launcher import Launcher, TorchUnavailable, unavailable
from tsguard.runtime.loader import LoaderJob, measure_loader
from tsguard.runtime.loader_options import LoaderOptions
from tsguard.runtime.loader_task import LoaderTask
from tsguard.runtime.site import cuda_devices
from tsguard.runtime.subject import Subject
from tsguard.runtime.task import Limits
from tsguard.settings.config import Settings
from tsguard.settings.requests import Request, plan
from tsguard.version import __version__

_FEWEST_SECONDS = 3.0
# Kept for starting Python, stopping the last workers and ending the processes.
_ENDING_SECONDS = 4.0

Progress = Callable[[str], None]


class NoTarget(LookupError):
    """A file is given, and which loader in it is meant cannot be told; the message lists them."""


def run(
    request: Request,
    settings: Settings,
    options: LoaderOptions,
    *,
    progress: Progress = lambda text: None,
) -> Report:
    """Measure the DataLoader that is requested.

    What is asked for wrongly is an error of the report; what the user's code does wrong is part of
    the report on the loader.

    Raises:
        ConfigError: the Python or the torch version of the settings is of no use.
    """
    started = time.monotonic()
    judged = judged_releases(settings)
    report = Report(__version__, str(judged), torch_told_by=judged.told_by, torch_note=judged.note)
    if request.path.is_dir():
        return replace(report, errors=(Error(f"{request.given}: a loader lies in a file: FILE:NAME"),))
    planned = plan([request], settings)
    if planned.errors:
        return replace(report, errors=planned.errors)
    module = Project(search_paths(settings)).module(planned.jobs[0].path, shown=planned.jobs[0].shown)
    try:
        expression = request.expression or _only_loader(module, request.given)
    except NoTarget as problem:
        return replace(report, errors=(Error(str(problem)),))
    try:
        with Launcher(str(options.python) if options.python is not None else None) as launcher:
            job = _job(module, expression, settings, options, launcher, started)
            found = measure_loader(launcher.run, job, progress)
            environment = _environment(launcher, job)
    except TorchUnavailable as reason:
        remedy = ": install it, or name an interpreter that has it with --python"
        told = f"nothing was measured: {unavailable(reason, remedy)}"
        return replace(report, errors=(Error(told),))
    if found.error is not None and found.error.type == "NoLoader":
        return replace(report, errors=(Error(f"{found.target}: {found.error.message}"),))
    return replace(report, loaders=(found,), environment=environment)


def _only_loader(module: Module, given: str) -> str:
    found = list(dict.fromkeys(_candidates(module)))
    if len(found) == 1:
        return found[0]
    if not found:
        raise NoTarget(f"{given}: say which loader: {given}:NAME or {given}:make_loader(...)")
    raise NoTarget(f"{given} has several loaders: {', '.join(f'{given}:{name}' for name in found)}")


def _candidates(module: Module) -> Iterator[str]:
    """The loaders that a file makes where they can be had: in variables, from functions without arguments."""
    pipeline = Pipeline(Project(), module)
    for loader in pipeline.loaders:
        top = pipeline.names.survey.top
        if loader.frame is top:
            yield from _variables(loader, module)
        elif loader.frame.parent is top and loader.frame.cls is None:
            yield from _functions(loader)


def _variables(loader: Loader, module: Module) -> Iterator[str]:
    for name, bindings in module.bindings.items():
        if any(getattr(binding.node, "value", None) is loader.site.node for binding in bindings):
            yield name


def _functions(loader: Loader) -> Iterator[str]:
    function = loader.frame.node
    if isinstance(function, ast.FunctionDef):
        spec = function.args
        required = len(spec.args) > len(spec.defaults) or any(d is None for d in spec.kw_defaults)
        returned = (node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value)
        gives = any(loader.names.origin(value, loader.frame)[0] is loader.site.node for value in returned)
        if gives and not required:
            yield f"{function.name}()"


def _job(
    module: Module,
    expression: str,
    settings: Settings,
    options: LoaderOptions,
    launcher: Launcher,
    started: float,
) -> LoaderJob:
    cores = _cores()
    left = options.time_budget - (time.monotonic() - started) - _ENDING_SECONDS
    task = LoaderTask(
        expression,
        options.is_dataset,
        options.batch_size,
        options.collate,
        workers=options.workers,
        cores=cores,
        most_workers=_most_workers(options, cores),
        start_method=options.start_method,
        seconds=max(left, _FEWEST_SECONDS),
        patience=options.timeout,
        threads=options.threads or cores,
        step_seconds=options.step_seconds,
    )
    subject = Subject(
        spec=f"{module.file.path}:{expression}",
        file=str(Path(module.file.path).absolute()),
        shown=module.file.path,
        root=str(module.root),
        module=module.name,
        qualname=expression,
        kind="function",
        search_paths=tuple(map(str, settings.import_folders)),
    )
    limits = Limits(options.timeout, options.memory_limit or _memory_mb() * 3 // 4)
    gpu = options.device == "auto" and bool(cuda_devices(launcher))
    return LoaderJob(subject, task, limits, gpu)


def _most_workers(options: LoaderOptions, cores: int) -> int:
    if options.most_workers is not None:
        return options.most_workers
    return max(4 * cores, 16, *options.workers) if options.workers else max(4 * cores, 16)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory_mb() -> int:
    return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")) >> 20


def _environment(launcher: Launcher, job: LoaderJob) -> tuple[tuple[str, str], ...]:
    found = launcher.environment
    return (("python", found.python), ("torch", found.torch), ("cores", str(job.task.cores)))
