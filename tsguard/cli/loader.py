"""``tsguard loader``: a DataLoader measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tsguard.cli.options import Decorator, Options, Unusable, report_options, takes
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
        raise click.BadParameter(f"{value!r} is no list of numbers such as 0,2,4")
    return numbers


_OPTIONS: tuple[Decorator, ...] = (
    click.option("--dataset", "is_dataset", is_flag=True, help="TARGET is a dataset, not a loader."),
    click.option("--batch-size", type=click.IntRange(1), help="Of the loader that is made around a dataset."),
    click.option("--collate-fn", "collate", metavar="NAME", help="Of the loader made around a dataset."),
    click.option(
        "--workers",
        callback=_numbers,
        metavar="N,N,...",
        help="The numbers of workers to try.  [default: found by trying]",
    ),
    click.option(
        "--max-workers", "most_workers", type=click.IntRange(0), help="Never more workers than this."
    ),
    click.option(
        "--start-method",
        type=click.Choice(["fork", "spawn", "forkserver"]),
        help="How workers start.  [default: as the loader says]",
    ),
    click.option(
        "--step",
        "step_seconds",
        **_SECONDS,
        help="What a training step takes: fewer workers may do then.",
    ),
    click.option(
        "--time-budget", **_SECONDS, help=f"For the whole measurement.  [default: {_DEFAULTS.time_budget:g}]"
    ),
    click.option("--timeout", **_SECONDS, help=f"For a single batch.  [default: {_DEFAULTS.timeout:g}]"),
    click.option("--memory-limit", type=click.IntRange(1), metavar="MIB", help="For all workers together."),
    click.option(
        "--threads", type=click.IntRange(1), help="Of torch in the loading process.  [default: one a core]"
    ),
    click.option(
        "--device",
        type=click.Choice(["auto", "cpu"]),
        default="auto",
        help="Whether copies to a GPU, where there is one, are measured too.",
    ),
    click.option(
        "--python",
        type=click.Path(exists=True, path_type=Path),
        metavar="PATH",
        help="The Python that has torch.",
    ),
)


@click.command("loader", short_help="Measure a DataLoader: workers, copies, collate_fn.")
@click.argument("target")
@takes(LoaderOptions, "measuring", _OPTIONS)
@report_options
def command(options: Options, measuring: LoaderOptions, target: str) -> int:
    """Measure a DataLoader: how many workers are worth it, and where the time goes.

    TARGET is FILE:loader, FILE:make_loader() or any other expression that gives a DataLoader; with
    --batch-size also a dataset.  Of a FILE alone the loader is found, if it has only one.
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
