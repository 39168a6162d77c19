"""``tsguard migrate``: the way from TorchScript to torch.export."""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path

import click

from tsguard.cli.options import Options, Unusable, common_options, is_typed
from tsguard.cli.output import failing, progress, show, status, tell_besides, tell_passed_over
from tsguard.formats import View
from tsguard.formats import render as render_report
from tsguard.linting.run import lint
from tsguard.report import Report
from tsguard.settings.config import ConfigError
from tsguard.settings.requests import parse, plan

_FORMATS = {"text": "tsguard.formats.migration", "html": "tsguard.formats.migration_html"}


_WRITTEN = ("text", "json", "html")


@click.command("migrate")
@click.argument("paths", nargs=-1, metavar="[PATH...]")
@common_options
def command(options: Options, paths: tuple[str, ...]) -> int:
    """Plan the migration from TorchScript to torch.export.

    PATH is a file, a folder (default: the working folder) or a target: FILE:Name, FILE:Name(64, heads=4) or
    package.module:Name.  Reports for each target whether it can be scripted, traced, exported and compiled as one
    graph, what prevents that, which features of a scripted module an exported program does not have, and in which
    order to migrate; and for each use of torch.jit its replacement.  Neither torch nor the code is imported.  The
    exit status is 1 if torch.export refuses a target or specialises it to the example, if a feature is lost, or if a
    file cannot be read.  The plan is written as text, json or html.
    """
    if options.update_baseline:
        raise click.UsageError("--update-baseline is an option of `tsguard lint`")
    paths = paths or (".",)
    settings = options.settings([Path(path.partition(":")[0]) for path in paths])
    settings = replace(settings, purpose="migration")
    chosen = settings.output_format or "text"
    if chosen not in _WRITTEN and not is_typed("output_format"):
        chosen = "text"  # what reports of findings are written in
    if chosen not in _WRITTEN:
        raise Unusable(f"`tsguard migrate` writes text, json or html, not {chosen}")
    planned = plan([parse(path, settings) for path in paths], settings)
    try:
        with progress(options, len(planned.jobs)) as advance:
            report, sources = lint(planned, settings, progress=advance)
    except ConfigError as error:
        raise Unusable(str(error)) from None
    from tsguard.formats.migration import summary
    from tsguard.migration.way import in_the_way, migrated

    report = migrated(failing(report, settings) if options.only_failing else report)
    for folder in planned.empty:
        click.echo(f"no Python files in {folder}", err=True)
    show(report, sources, options, chosen, draw=_drawn)
    tell_besides(report, options)
    tell_passed_over(options, settings, [job.path for job in planned.jobs])
    if chosen == "text" and report.files and not options.quiet:
        click.echo(summary(report), err=True)
    return status(replace(report, findings=in_the_way(report)), settings, options.exit_zero)


def _drawn(report: Report, format: str, view: View) -> str:
    if format not in _FORMATS:
        return render_report(report, format, view)
    text: str = importlib.import_module(_FORMATS[format]).render(report, view)
    return text
