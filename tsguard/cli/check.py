"""``tsguard check``: the static part, then real attempts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from tsguard.cli.fix import Repairing, mended
from tsguard.cli.options import Decorator, Options, Unusable, common_options, takes
from tsguard.cli.output import accept, publish
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
    click.option(
        "--input",
        "inputs",
        multiple=True,
        metavar="EXPR",
        help="An example input: 'torch.randn(1, 3, 64, 64)' or 'mask=None'.",
    ),
    click.option(
        "--device",
        "devices",
        multiple=True,
        metavar="auto|cpu|cuda[:N]",
        help="Where to run.  [default: the CPU and every CUDA device]",
    ),
    click.option(
        "--mode",
        "modes",
        multiple=True,
        type=click.Choice(_DEFAULTS.modes),
        help="In which modes; train includes backward.  [default: both]",
    ),
    click.option(
        "--backend",
        "backends",
        multiple=True,
        callback=_backends,
        metavar="NAMES",
        help=f"What to attempt: {', '.join(BACKEND_NAMES)}.  [default: {', '.join(_DEFAULTS.backends)}]",
    ),
    click.option(
        "--dtype",
        "dtypes",
        multiple=True,
        type=click.Choice(["float16", "bfloat16", "float32", "float64"]),
        help="Attempt it in this type as well.",
    ),
    click.option("--breakdown", is_flag=True, help="Attempt the submodules one by one as well."),
    click.option(
        "--time-budget",
        **_SECONDS,
        help=f"For timing one target, 0 for none.  [default: {_DEFAULTS.time_budget:g}]",
    ),
    click.option(
        "--timeout", **_SECONDS, help=f"For each step of a target.  [default: {_DEFAULTS.timeout:g}]"
    ),
    click.option("--memory-limit", type=click.IntRange(1), metavar="MIB", help="For one worker."),
    click.option(
        "--threads", type=click.IntRange(1), help=f"Of torch in a worker.  [default: {_DEFAULTS.threads}]"
    ),
    click.option(
        "--workers", type=click.IntRange(1), help="Targets attempted at a time.  [default: as --jobs]"
    ),
    click.option(
        "--require", type=click.Choice(["script", "trace", "either"]), help="Fail if this does not work."
    ),
    click.option(
        "--min-speedup",
        type=click.FloatRange(0),
        metavar="RATIO",
        help="Fail if none is this much faster than eager.",
    ),
    click.option(
        "--compare",
        "previous",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        metavar="PREVIOUS.json",
        help="Fail where it is worse than in this earlier report.",
    ),
    click.option(
        "--save",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="FOLDER",
        help="Keep what was made.",
    ),
    click.option(
        "--python",
        type=click.Path(exists=True, path_type=Path),
        metavar="PATH",
        help="The Python that has torch.",
    ),
    click.option("--scheduler", metavar="ADDRESS", help="Attempt on a Dask cluster."),
)


@click.command("check")
@click.argument("targets", nargs=-1, metavar="[TARGET...]")
@click.option(
    "--fix",
    "fix_first",
    is_flag=True,
    help="Repair first what torch refuses, as `tsguard fix --write` does.",
)
@takes(CheckOptions, "attempts", _OPTIONS)
@common_options
def command(
    options: Options, attempts: CheckOptions, targets: tuple[str, ...], *, fix_first: bool = False
) -> int:
    """Judge code for torch.jit, then script and trace it for real.

    TARGET is a file, a folder, FILE:Name, FILE:Name(64, heads=4) or package.module:Name.  Of a file all
    targets are attempted, of a folder those that the configuration names; without TARGET all of those.
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
    requests = [parse(target, settings) for target in targets]
    judged = replace(settings, baseline=None) if options.update_baseline else settings
    try:
        with interruptible(), telling(options) as tell:
            report, sources = run(requests, judged, attempts, progress=tell)
        if options.update_baseline:
            return accept(report, sources, options, settings)
    except ConfigError as error:
        raise Unusable(str(error)) from None
    _tell_of_the_rest(requests, report, settings)
    status = publish(report, sources, options, settings)
    if report.interrupted:
        click.echo("interrupted", err=True)
        return 130
    return status


def _tell_of_the_rest(requests: Sequence[Request], report: Report, settings: Settings) -> None:
    """Say why nothing was attempted of a notebook or a folder."""
    if any(is_notebook(request.path) for request in requests):
        click.echo("notebooks were linted only: what is attempted has to be imported from a file", err=True)
    folders = [request.given for request in requests if request.path.is_dir() and not request.expression]
    if folders and not report.files:
        click.echo(f"no Python files in {', '.join(folders)}", err=True)
    elif folders and not settings.targets:
        click.echo(
            "folders were linted only: no targets are configured in [tool.tsguard.targets]."
            " To attempt what is in a file, name it: `tsguard check FILE`",
            err=True,
        )
