"""``tsguard check``: the static part, then real attempts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from tsguard.cli.fix import Repairing, mended
from tsguard.cli.options import (
    Decorator,
    Options,
    Unusable,
    common_options,
    input_option,
    python_option,
    takes,
)
from tsguard.cli.output import accept, publish, tell_passed_over, to_update
from tsguard.cli.progress import interruptible, telling
from tsguard.report import Report
from tsguard.runtime.options import BACKEND_NAMES, CheckOptions
from tsguard.settings.config import ConfigError, Settings
from tsguard.settings.requests import Request, parse
from tsguard.source.text import is_notebook

_DEFAULTS = CheckOptions()
_SECONDS: Any = {"type": click.FloatRange(0), "metavar": "SECONDS"}


def _backends(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    choice = click.Choice(BACKEND_NAMES)
    names = [name.strip() for value in values for name in value.split(",")]
    return tuple(choice.convert(name, param, ctx) for name in names)


_OPTIONS: tuple[Decorator, ...] = (
    input_option,
    click.option(
        "--device",
        "devices",
        multiple=True,
        metavar="auto|cpu|cuda[:N]",
        help="The devices to run on.  [default: the CPU and every CUDA device]",
    ),
    click.option(
        "--mode",
        "modes",
        multiple=True,
        type=click.Choice(_DEFAULTS.modes),
        help="The modes to run in; train includes the backward pass.  [default: both]",
    ),
    click.option(
        "--backend",
        "backends",
        multiple=True,
        callback=_backends,
        metavar="NAMES",
        help=f"The backends to attempt: {', '.join(BACKEND_NAMES)}.  [default: {', '.join(_DEFAULTS.backends)}]",
    ),
    click.option(
        "--dtype",
        "dtypes",
        multiple=True,
        type=click.Choice(["float16", "bfloat16", "float32", "float64"]),
        help="Attempt the target in this dtype as well.",
    ),
    click.option("--breakdown", is_flag=True, help="Attempt each submodule on its own as well."),
    click.option(
        "--time-budget",
        **_SECONDS,
        help=f"The time for timing each target; 0 skips timing.  [default: {_DEFAULTS.time_budget:g}]",
    ),
    click.option(
        "--timeout",
        **_SECONDS,
        help=f"The time limit for each step of a target.  [default: {_DEFAULTS.timeout:g}]",
    ),
    click.option(
        "--memory-limit",
        type=click.IntRange(1),
        metavar="MIB",
        help="The memory limit of each worker process.",
    ),
    click.option(
        "--threads",
        type=click.IntRange(1),
        help=f"The threads of torch in each worker.  [default: {_DEFAULTS.threads}]",
    ),
    click.option(
        "--workers",
        type=click.IntRange(1),
        help="The number of targets to attempt at the same time.  [default: as --jobs]",
    ),
    click.option(
        "--require", type=click.Choice(["script", "trace", "either"]), help="Fail unless this works."
    ),
    click.option(
        "--min-speedup",
        type=click.FloatRange(0),
        metavar="RATIO",
        help="Fail unless an attempt is this much faster than eager.",
    ),
    click.option(
        "--compare",
        "previous",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        metavar="PREVIOUS.json",
        help="Fail if an attempt is worse than in this earlier report.",
    ),
    click.option(
        "--save",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="FOLDER",
        help="Save the compiled modules to this folder.",
    ),
    python_option,
    click.option(
        "--scheduler", metavar="ADDRESS", help="Run the attempts on the Dask cluster at this address."
    ),
)


@click.command("check")
@click.argument("targets", nargs=-1, metavar="[TARGET...]")
@click.option(
    "--fix",
    "fix_first",
    is_flag=True,
    help="Repair what torch refuses first, like `tsguard fix --write`.",
)
@takes(CheckOptions, "attempts", _OPTIONS)
@common_options
def command(
    options: Options, attempts: CheckOptions, targets: tuple[str, ...], *, fix_first: bool = False
) -> int:
    """Lint code for torch.jit, then script and trace it for real.

    TARGET is a file, a folder, FILE:Name, FILE:Name(64, heads=4) or package.module:Name.  For a file, all of
    its targets are attempted; for a folder, those that the configuration names.  Without TARGET, all configured
    targets are attempted.
    """
    from tsguard.checking.run import run

    settings = options.settings([Path(target.partition(":")[0]) for target in targets])
    if not targets and not settings.targets:
        click.echo(
            "no targets given, none configured: `tsguard check FILE` checks the modules in a file", err=True
        )
    if fix_first and targets:
        wanted = Repairing(attempts.inputs, write=True, timeout=attempts.timeout, python=attempts.python)
        mended(options, wanted, targets)
    if attempts.save is not None:
        _make_folder(attempts.save)
    requests = [parse(target, settings) for target in targets]
    judged = to_update(settings) if options.update_baseline else settings
    try:
        with interruptible(), telling(options) as tell:
            report, sources = run(requests, judged, attempts, progress=tell)
        if options.update_baseline:
            return accept(report, sources, options, settings)
    except ConfigError as error:
        raise Unusable(str(error)) from None
    _tell_of_the_rest(requests, report, settings)
    status = publish(report, sources, options, settings)
    tell_passed_over(options, settings, [Path(target.path).absolute() for target in report.targets])
    if report.interrupted:
        click.echo("interrupted", err=True)
        return 130
    return status


def _make_folder(folder: Path) -> None:
    """The folder to save to, before anything is done that could not be kept."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unusable(f"--save: {folder} cannot be made: {error.strerror}") from None


def _tell_of_the_rest(requests: Sequence[Request], report: Report, settings: Settings) -> None:
    """Say why nothing was attempted of a notebook or a folder."""
    if any(is_notebook(request.path) for request in requests):
        click.echo("notebooks were linted only: what is attempted has to be imported from a file", err=True)
    folders = [r.given for r in requests if r.given and r.path.is_dir() and not r.expression]
    if folders and not report.files:
        click.echo(f"no Python files in {', '.join(folders)}", err=True)
    elif folders and not settings.targets:
        click.echo(
            "folders were linted only: no targets are configured in [tool.tsguard.targets]."
            " To attempt what is in a file, name it: `tsguard check FILE`",
            err=True,
        )
