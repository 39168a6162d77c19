"""``tsguard lint``: the static part alone."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import click

from tsguard.cli.fixing import Fixing, fix_options, pipe, run_fixes
from tsguard.cli.options import Options, Unusable, common_options
from tsguard.cli.output import accept, progress, publish, silence, tell_passed_over, to_update
from tsguard.linting.run import lint
from tsguard.settings.config import ConfigError, Settings
from tsguard.settings.requests import Plan, Request, parse, plan
from tsguard.source import SourceFile
from tsguard.source.text import encoding_of, is_notebook


@click.command("lint")
@click.argument("paths", nargs=-1, metavar="[PATH...]")
@click.option("--stdin-filename", metavar="FILE", help="The file name to use for standard input.")
@click.option("--watch", "watched", is_flag=True, help="Lint again whenever a file changes.")
@click.option("--add-ignore", is_flag=True, help="Add a suppression comment for each finding.")
@fix_options
@common_options
def command(
    options: Options,
    fixing: Fixing,
    paths: tuple[str, ...],
    stdin_filename: str | None,
    add_ignore: bool,
    watched: bool,
) -> int:
    """Check code for torch.jit without running it.

    PATH is a file, a notebook, a folder (default: the working folder), - for standard input, or a target:
    FILE:Name, FILE:Name(64, heads=4) or package.module:Name.  Neither torch nor the code is imported.
    """
    paths = paths or (".",)
    if fixing.wanted and (add_ignore or options.update_baseline):
        raise click.UsageError("--fix cannot be combined with --add-ignore or --update-baseline")
    if add_ignore and options.update_baseline:
        raise click.UsageError("--add-ignore cannot be combined with --update-baseline")
    if watched and (fixing.wanted or add_ignore or options.update_baseline or "-" in paths):
        raise click.UsageError(
            "--watch only shows findings: it takes files and folders, and none of --fix, --add-ignore and --update-baseline"
        )

    def run() -> tuple[int, list[Path]]:
        settings = options.settings([Path(path.partition(":")[0]) for path in paths if path != "-"])
        settings = replace(settings, tells_export=settings.output_format == "json")
        requests = [_request(path, settings, stdin_filename) for path in paths]
        planned = plan(requests, settings)
        if fixing.wanted and not fixing.diff and not any(job.text is not None for job in planned.jobs):
            for request in requests:  # what is excluded is left as it is
                pipe(request.text or "", request.encoding)
        status = _run(options, settings, planned, add_ignore, fixing)
        tell_passed_over(options, settings, [job.path for job in planned.jobs])
        configuration = [settings.file] if settings.file is not None else []
        return status, [*(job.path for job in planned.jobs), *map(Path, planned.empty), *configuration]

    if watched:
        from tsguard.cli.watch import watch

        return watch(run)
    return run()[0]


def _run(options: Options, settings: Settings, planned: Plan, add_ignore: bool, fixing: Fixing) -> int:
    judged = to_update(settings) if options.update_baseline else settings
    try:
        if fixing.wanted:
            return run_fixes(options, settings, planned, fixing)
        with progress(options, len(planned.jobs)) as advance:
            report, sources = lint(planned, judged, progress=advance)
        if options.update_baseline:
            return accept(report, sources, options, settings)
        if add_ignore:
            return silence(report, planned, options)
    except ConfigError as error:
        raise Unusable(str(error)) from None
    for folder in planned.empty:
        click.echo(f"no Python files in {folder}", err=True)
    return publish(report, sources, options, settings, unsafe_fixes=fixing.unsafe_fixes)


def _request(argument: str, settings: Settings, stdin_filename: str | None) -> Request:
    if argument != "-":
        return parse(argument, settings)
    name = stdin_filename or "<stdin>"
    if is_notebook(name):
        raise Unusable("a notebook cannot be read from standard input: pass its file name")
    data = sys.stdin.buffer.read()
    file = SourceFile.decode(data, name)
    if file.broken is not None:
        raise Unusable(f"standard input {file.broken.message}")
    return Request(name, Path(name), text=file.text, encoding=encoding_of(data))
