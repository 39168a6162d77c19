"""``tsguard loader``: a DataLoader measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tsguard.cli.options import Decorator, Options, Unusable, python_option, report_options, takes
from tsguard.cli.output import publish
from tsguard.cli.progress import telling
from tsguard.runtime.loader_options import LoaderOptions
from tsguard.settings.config import ConfigError
from tsguard.settings.requests import parse
from tsguard.source.sources import Sources

_DEFAULTS = LoaderOptions()
_SECONDS: Any = {"type": click.FloatRange(0, min_open=True), "metavar": "SECONDS"}


def _numbers(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[int, ...]:
    try:
        numbers = tuple(int(part) for part in value.split(",")) if value else ()
    except ValueError:
        numbers = (-1,)
    if any(number < 0 for number in numbers):
        raise click.BadParameter(f"{value!r} is not a list of numbers such as 0,2,4")
    return numbers


_OPTIONS: tuple[Decorator, ...] = (
    click.option("--dataset", "is_dataset", is_flag=True, help="TARGET is a dataset, not a DataLoader."),
    click.option(
        "--batch-size", type=click.IntRange(1), help="The batch size of the DataLoader made for a dataset."
    ),
    click.option(
        "--collate-fn",
        "collate",
        metavar="NAME",
        help="The collate function of the DataLoader made for a dataset.",
    ),
    click.option(
        "--workers",
        callback=_numbers,
        metavar="N,N,...",
        help="The numbers of workers to try.  [default: chosen while measuring]",
    ),
    click.option(
        "--max-workers", "most_workers", type=click.IntRange(0), help="The largest number of workers to try."
    ),
    click.option(
        "--start-method",
        type=click.Choice(["fork", "spawn", "forkserver"]),
        help="How to start workers.  [default: as the DataLoader does]",
    ),
    click.option(
        "--step",
        "step_seconds",
        **_SECONDS,
        help="The duration of a training step, for which fewer workers may be enough.",
    ),
    click.option(
        "--time-budget",
        **_SECONDS,
        help=f"The time for the whole measurement.  [default: {_DEFAULTS.time_budget:g}]",
    ),
    click.option(
        "--timeout", **_SECONDS, help=f"The time limit for a single batch.  [default: {_DEFAULTS.timeout:g}]"
    ),
    click.option(
        "--memory-limit",
        type=click.IntRange(1),
        metavar="MIB",
        help="The memory limit of all workers together.",
    ),
    click.option(
        "--threads",
        type=click.IntRange(1),
        help="The threads of torch in the loading process.  [default: one per core]",
    ),
    click.option(
        "--device",
        type=click.Choice(["auto", "cpu"]),
        default="auto",
        help="Whether to measure copies to the GPU too, if there is one.",
    ),
    python_option,
)


@click.command("loader", short_help="Measure a DataLoader: workers, copies, collate_fn.")
@click.argument("target")
@takes(LoaderOptions, "measuring", _OPTIONS)
@report_options
def command(options: Options, measuring: LoaderOptions, target: str) -> int:
    """Measure a DataLoader: how many workers are worth it, and where the time goes.

    TARGET is FILE:loader, FILE:make_loader() or any other expression for a DataLoader, or for a dataset with
    --batch-size.  FILE alone is enough if it has a single DataLoader.
    """
    from tsguard.checking.loader import run

    settings = options.settings([Path(target.partition(":")[0])])
    try:
        with telling(options) as tell:
            report = run(parse(target, settings), settings, measuring, progress=tell.step)
    except ConfigError as error:
        raise Unusable(str(error)) from None
    status = publish(report, Sources({}), options, settings)
    return status or int(any(map(measuring.is_failed, report.loaders)) and not options.exit_zero)
