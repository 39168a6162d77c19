"""The Python API: what ``tsguard lint`` and ``tsguard check`` do, called from Python.

What is documented here stays as the command line and the JSON report do: see the versioning policy.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsguard.linting.run import lint as lint_plan
from tsguard.report import Purpose, Report
from tsguard.settings.config import Settings, find, load
from tsguard.settings.requests import parse, plan
from tsguard.settings.selection import Layer, selector

if TYPE_CHECKING:
    import torch

    from tsguard.runtime.live import Handed
    from tsguard.runtime.options import CheckOptions, Required


def lint(
    paths: Iterable[str | PathLike[str]] | str | PathLike[str],
    *,
    config: Path | None = None,
    isolated: bool = False,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    baseline: Path | None = None,
    purpose: Purpose = "trace",
) -> Report:
    """Judge code for torch.jit without running it, as ``tsguard lint`` does.

    Args:
        paths: files, folders or targets such as ``model.py:Net(64)``.
        config: the configuration file; by default that which is nearest to the paths.
        isolated: read no configuration.
        select: report these rules only: codes, beginnings of codes, names or "ALL".
        ignore: leave these rules out.
        baseline: a file of accepted findings.
        purpose: "export" says of traces what torch.export makes of the same code.

    Returns:
        The report; paths in it are relative to the working folder.  ``report.errors`` are what
        could not be done, such as paths that do not exist.

    Raises:
        ConfigError: the configuration cannot be used.
        UnknownSelector: no rule has such a code or name.
    """
    given = [str(path) for path in ([paths] if isinstance(paths, (str, PathLike)) else paths)]
    settings = replace(_settings(given, config, isolated, baseline, select, ignore), purpose=purpose)
    report, _ = lint_plan(plan([parse(path, settings) for path in given], settings), settings)
    return report


def check(
    target: str | PathLike[str] | torch.nn.Module | Callable[..., Any],
    inputs: Sequence[Any] | None = None,
    *,
    kwargs: Mapping[str, Any] | None = None,
    require: Required | None = None,
    min_speedup: float | None = None,
    backends: Sequence[str] = (),
    modes: Sequence[str] = (),
    devices: Sequence[str] = (),
    time_budget: float | None = None,
    config: Path | None = None,
    isolated: bool = False,
) -> Report:
    """Judge a target, script and trace it for real in another process, and compare it with eager.

    Args:
        target: ``model.py:Net(64)``, a file, or a live module or function.  A live one is saved
            and loaded again in the other process: its class must be importable there.
        inputs: the positional arguments of ``forward``: values, or expressions as ``--input`` takes
            them.  By default they are looked for, as the command line does.
        kwargs: the keyword arguments of ``forward``.
        require: "script", "trace" or "either" must work, or the report has a finding TSG906.
        min_speedup: the least ratio to eager's speed that is wanted, or the same.
        backends, modes, devices: as ``--backend``, ``--mode`` and ``--device``; by default as they.
        time_budget: seconds for timing; by default 10 where ``min_speedup`` is given, else none.
        config: the configuration file; by default that which is nearest to the target.
        isolated: read no configuration.

    Returns:
        The report, with an attempt for each backend, device and mode.  ``report.errors`` tell of what
        could not be done, such as attempts where torch is not installed.

    Raises:
        ConfigError: the configuration cannot be used.
        NotImportable: a live target cannot be found again by another process.
    """
    from tsguard.checking.run import run
    from tsguard.runtime.live import Handed, handed_over, named_inputs
    from tsguard.runtime.options import CheckOptions

    with tempfile.TemporaryDirectory(prefix="tsguard-") as folder:
        handed = (
            Handed(str(target)) if isinstance(target, (str, PathLike)) else handed_over(target, Path(folder))
        )
        expressions = named_inputs(inputs, kwargs, Path(folder))
        settings = _settings([handed.target], config, isolated, None, (), ())
        defaults = CheckOptions()
        options = CheckOptions(
            inputs=expressions,
            devices=tuple(devices) or defaults.devices,
            modes=tuple(modes) or defaults.modes,
            backends=tuple(backends) or defaults.backends,
            require=require,
            min_speedup=min_speedup,
            time_budget=_time_budget(time_budget, min_speedup),
        )
        settings = _with_constructor(settings, handed, options)
        report, _ = run([parse(handed.target, settings)], settings, options)
    return report


def _settings(
    paths: Sequence[str],
    config: Path | None,
    isolated: bool,
    baseline: Path | None,
    select: Sequence[str],
    ignore: Sequence[str],
) -> Settings:
    file = None if isolated else config or find([Path(path.partition(":")[0]) for path in paths])
    settings = load(file)
    layer = Layer(tuple(map(selector, select)) if select else None, ignore=tuple(map(selector, ignore)))
    return replace(settings, selection=settings.selection.then(layer), baseline=baseline or settings.baseline)


def _time_budget(given: float | None, min_speedup: float | None) -> float:
    if given is not None:
        return given
    return 10.0 if min_speedup is not None else 0.0


def _with_constructor(settings: Settings, handed: Handed, options: CheckOptions) -> Settings:
    """Settings in which a live target is made by loading it."""
    if handed.constructor is None:
        return settings
    from tsguard.settings.config import TargetSettings

    own = TargetSettings(
        inputs=options.inputs, require=options.require, min_speedup=options.min_speedup,
        constructor=handed.constructor,
    )  # fmt: skip
    return replace(settings, targets={**settings.targets, handed.target: own})
