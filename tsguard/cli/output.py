"""What a command leaves behind: the report, the summary, the exit status."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TextIO

import click

from tsguard.cli.options import Options, Unusable
from tsguard.formats import View, render
from tsguard.linting.assembly import number
from tsguard.report import SEVERITIES, BaselineUse, Error, Report
from tsguard.rules.links import takes_links
from tsguard.settings.config import ConfigError, Settings, passed_over
from tsguard.settings.requests import Plan, shown
from tsguard.source.sources import Sources

# Fewer files than this are done before a bar could be read.
_WORTH_A_BAR = 20


def publish(
    report: Report,
    sources: Sources,
    options: Options,
    settings: Settings,
    *,
    unsafe_fixes: bool = False,
    to_stderr: bool = False,
) -> int:
    """Write the report where it is wanted, what a person needs besides to standard error.

    ``unsafe_fixes`` tells that fixes which are not safe are wanted too; ``to_stderr`` that
    standard output is taken.

    Returns:
        The exit status: 2 if something could not be done, 1 for findings at or above
        the fail level, or an unknown verdict where none may be, else 0.
    """
    chosen = settings.output_format or "text"
    report = failing(report, settings) if options.only_failing else report
    show(report, sources, options, chosen, unsafe_fixes=unsafe_fixes, to_stderr=to_stderr)
    tell_besides(report, options)
    nothing_done = bool(report.errors) and not report.files and not report.loaders
    if not options.quiet and not nothing_done and chosen in ("text", "concise"):
        if packages := _packages(report, options.verbose):
            click.echo(packages, err=True)
        click.echo(summary(report), err=True)
        if report.baseline is not None:
            click.echo(_baseline(report.baseline), err=True)
        if fixable := _fixable(report, unsafe_fixes):
            click.echo(fixable, err=True)
        if options.dynamic and report.purpose == "trace":
            click.echo(
                "note: --dynamic is about torch.export: pass --for export to see its verdicts", err=True
            )
    return status(report, settings, options.exit_zero)


def show(
    report: Report,
    sources: Sources,
    options: Options,
    chosen: str,
    *,
    unsafe_fixes: bool = False,
    to_stderr: bool = False,
    draw: Callable[[Report, str, View], str] = render,
) -> None:
    """Write the report in the format ``chosen``, as ``draw`` draws it, to the file or stream that is wanted."""
    colored = options.output is None and _colored(options.color, sys.stderr if to_stderr else sys.stdout)
    view = View(
        sources,
        colored,
        options.quiet,
        options.verbose,
        unsafe_fixes,
        colored and takes_links(sys.stderr if to_stderr else sys.stdout, os.environ),
        *(_origin() if chosen == "html" else ("", "")),
        _columns(),
    )
    text = draw(report, chosen, view)
    if options.output is None:
        click.echo(text, nl=False, color=colored, err=to_stderr)
    else:
        _write(text, options)


def tell_besides(report: Report, options: Options) -> None:
    """What belongs to no format: statistics, if wanted, errors, and what is to be known of the torch release."""
    if options.statistics:
        _statistics(report)
    tell_errors(report, options)
    if report.torch_note is not None and not options.quiet:
        click.echo(f"note: {report.torch_note}", err=True)


def tell_passed_over(options: Options, settings: Settings, files: Sequence[Path]) -> None:
    """Say which configurations did not count because a run has one, that of what all of its paths have in common."""
    if options.quiet or options.isolated or options.config is not None:
        return
    try:
        others = passed_over(files, settings.file)
    except ConfigError as error:
        click.echo(f"note: {error}", err=True)
        return
    if others:
        used = shown(settings.file) if settings.file is not None else "there is none"
        more = f" (and {count(len(others) - 1, 'other')})" if len(others) > 1 else ""
        click.echo(
            f"note: {shown(others[0])}{more} was not used: a run has one configuration, that of the folder that all"
            f" of its paths have in common ({used}); to use it, name {shown(others[0].parent)} alone, or pass --config",
            err=True,
        )


def failing(report: Report, settings: Settings) -> Report:
    """The report without the findings that do not matter for the exit status; verdicts stay."""
    least = SEVERITIES.index(settings.fail_level)
    kept = [f for f in report.findings if SEVERITIES.index(f.severity) >= least]
    findings, targets = number(kept, report.targets)
    return replace(report, findings=findings, targets=targets)


def _columns() -> int:
    """How wide text may be: as wide as the terminal, but not so wide that it is hard to read."""
    try:
        return min(max(os.get_terminal_size(sys.stdout.fileno()).columns, 40), 120)
    except (OSError, ValueError):
        return 100


def _origin() -> tuple[str, str]:
    """The command that is running, and the date."""
    import shlex
    from datetime import datetime

    now = datetime.now().astimezone()
    return shlex.join(("tsguard", *sys.argv[1:])), now.strftime("%Y-%m-%d %H:%M %Z")


def status(report: Report, settings: Settings, exit_zero: bool = False) -> int:
    """The exit status that a report comes to."""
    if report.errors:
        return 2
    least = SEVERITIES.index(settings.fail_level)
    if settings.require_known and report.unknown and not exit_zero:
        return 1
    failed = any(SEVERITIES.index(finding.severity) >= least for finding in report.findings)
    return int(failed and not exit_zero)


def to_update(settings: Settings) -> Settings:
    """Settings by which to judge what the baseline is to accept: with that of before, if it can be read."""
    from tsguard.linting.baseline import Baseline

    if settings.baseline is None:
        raise Unusable("--update-baseline needs a file: pass --baseline FILE")
    try:
        Baseline.read(settings.baseline)
    except ConfigError:
        return replace(settings, baseline=None)
    return settings


def accept(report: Report, sources: Sources, options: Options, settings: Settings) -> int:
    """Make the report's findings the baseline, beside what it holds of files that were not judged; the exit status."""
    from tsguard.linting.baseline import Baseline

    assert settings.baseline is not None
    used = report.baseline or BaselineUse()
    before = Baseline.read(settings.baseline).entries if report.baseline is not None else ()
    kept = tuple(entry for entry in before if entry not in used.stale)
    found = sorted(
        [*used.accepted, *report.findings], key=lambda f: (f.path, f.line, f.column, f.code, f.message)
    )
    updated = Baseline(settings.baseline, kept).adding(found, found, sources)
    updated.save()
    click.echo(f"{settings.baseline} now accepts {count(len(updated.entries), 'finding')}", err=True)
    tell_errors(report, options)
    return 2 if report.errors else 0


def silence(report: Report, planned: Plan, options: Options) -> int:
    """Write a suppression for each finding in the files that were asked for; the exit status."""
    from tsguard.repairing.ignoring import add_ignores

    added = 0
    for job in planned.jobs:
        found = [f for f in report.findings if f.path == job.shown and f.cell is None and f.code != "TSG002"]
        try:
            added += add_ignores(job.path, found) if found and job.text is None else 0
        except OSError as error:
            why = Error(f"{job.shown} cannot be changed: {error.strerror}", job.shown)
            report = replace(report, errors=(*report.errors, why))
    rest = len(report.findings) - added
    click.echo(f"{count(added, 'suppression')} written, {count(rest, 'finding')} left", err=True)
    tell_errors(report, options)
    return 2 if report.errors else int(rest > 0)


def _packages(report: Report, verbose: bool) -> str:
    """Where imported packages were read, for who wants to know; what to do if nowhere; else ""."""
    if report.packages is not None:
        return f"packages read from {report.packages.path} ({report.packages.source})" if verbose else ""
    if not report.targets:
        return ""
    return (
        "no environment with the project's packages was found: activate it, or set "
        'python = "PATH" in [tool.tsguard]'
    )


def summary(report: Report) -> str:
    """The run in one line."""
    counts = Counter(str(finding.severity) for finding in report.findings)
    words = {"error": "error", "warning": "warning", "info": "note"}
    told = [count(counts[severity], word) for severity, word in words.items() if counts[severity]]
    if report.loaders:
        stopped = sum(loader.error is not None for loader in report.loaders)
        measured = count(len(report.loaders) - stopped, "loader")
        return f"{measured} measured{f', {stopped} stopped before' if stopped else ''}"
    scope = f"{count(len(report.targets), 'target')} in {count(report.files, 'file')}"
    if report.unknown:
        scope = f"{scope}, {len(report.unknown)} with an unknown verdict"
    fixed = f" ({report.fixed} fixed)" if report.fixed else ""
    missing = sum(target.not_attempted is not None for target in report.targets)
    left = f", {missing} not attempted" if missing else ""
    return f"{', '.join(told) or 'no findings'}{fixed}; {scope}{left}"


def _baseline(use: BaselineUse) -> str:
    """What the baseline hides, and what of it can go."""
    told = f"{count(len(use.accepted), 'finding')} accepted by the baseline"
    if not use.stale:
        return told
    number = len(use.stale)
    return f"{told}; {count(number, 'stale entry', 'stale entries')} in it: --update-baseline removes {'it' if number == 1 else 'them'}"


def _fixable(report: Report, unsafe_fixes: bool) -> str:
    """What --fix would do about the findings, and what it keeps back; "" for nothing."""
    counts = report.summary()["fixable"]
    shown, hidden = counts["safe"], counts["unsafe"]
    if unsafe_fixes:
        shown, hidden = shown + hidden, 0
    more = f"{count(hidden, 'hidden fix', 'hidden fixes')} with --unsafe-fixes" if hidden else ""
    if not shown:
        return f"no safe fixes; {more}" if more else ""
    return f"[*] {shown} fixable with tsguard lint --fix{f'; {more}' if more else ''}"


@contextmanager
def progress(options: Options, files: int) -> Iterator[Callable[[], None]]:
    """A bar on standard error while files are judged, if a person is there to see it."""
    shown = sys.stderr.isatty() and not options.quiet and "CI" not in os.environ and files >= _WORTH_A_BAR
    if not shown:
        yield lambda: None
        return
    with click.progressbar(length=files, label="Checking", file=sys.stderr) as bar:
        yield lambda: bar.update(1)


def tell_error(message: str, color: str = "auto") -> None:
    """What keeps tsguard from its work, on standard error."""
    label = click.style("error", fg="red", bold=True)
    click.echo(f"{label}: {message}", err=True, color=_colored(color, sys.stderr))


def tell_errors(report: Report, options: Options) -> None:
    for error in report.errors:
        tell_error(error.message, options.color)


def _colored(choice: str, stream: TextIO) -> bool:
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def _write(text: str, options: Options) -> None:
    assert options.output is not None
    try:
        # A name of a file may hold bytes that are no text.
        options.output.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise Unusable(f"{options.output} cannot be written: {error.strerror}") from None


def _statistics(report: Report) -> None:
    counts = Counter((finding.code, finding.name) for finding in report.findings)
    for (code, name), count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        click.echo(f"{count:6}  {code}  {name}", err=True)


def count(number: int, word: str, plural: str = "") -> str:
    """``2 findings``."""
    return f"{number} {word if number == 1 else plural or f'{word}s'}"
