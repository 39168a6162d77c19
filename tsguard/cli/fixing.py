"""``--fix``, ``--unsafe-fixes`` and ``--diff`` of ``tsguard lint``."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tsguard.cli.options import Decorator, Options, Unusable, takes
from tsguard.cli.output import count, progress, publish, tell_errors
from tsguard.report.records import dataclass
from tsguard.settings.config import Settings
from tsguard.settings.requests import Plan
from tsguard.source.text import bytes_of, encoding_of, is_notebook

if TYPE_CHECKING:
    from tsguard.repairing.fixing import Change, Fixed


@dataclass(frozen=True, slots=True)
class Fixing:
    """What is to be done about what can be fixed; with ``diff``, it is shown instead."""

    fix: bool = False
    unsafe_fixes: bool = False
    diff: bool = False

    @property
    def wanted(self) -> bool:
        return self.fix or self.diff


fix_options: Decorator = takes(
    Fixing,
    "fixing",
    (
        click.option(
            "--fix", is_flag=True, help="Apply safe fixes to the files, and report the remaining findings."
        ),
        click.option(
            "--unsafe-fixes", is_flag=True, help="Include fixes that may change what the code does."
        ),
        click.option(
            "--diff",
            is_flag=True,
            help="Print the changes that --fix would make as a diff, without making them.",
        ),
    ),
)


def run_fixes(options: Options, settings: Settings, planned: Plan, fixing: Fixing) -> int:
    """Fix the files of a plan, or show how; the exit status.

    Code from standard input is printed as fixed, and its report goes to standard error.
    """
    from tsguard.repairing.fixing import fix

    if options.output is not None and fixing.diff:
        raise Unusable("--diff prints to standard output and cannot be combined with --output")
    with progress(options, len(planned.jobs)) as advance:
        done = fix(planned, settings, unsafe=fixing.unsafe_fixes, write=not fixing.diff, progress=advance)
    notebooks = sum(is_notebook(job.path) for job in planned.jobs)
    if notebooks and not options.quiet:
        click.echo(f"{count(notebooks, 'notebook')} left unchanged: fixes are for .py files", err=True)
    if fixing.diff:
        return _show(done, planned, options)
    piped = [job for job in planned.jobs if job.text is not None]
    for job in piped:
        change = done.changes.get(job.shown)
        pipe(change.after if change else job.text or "", job.encoding)
    return publish(
        done.report, done.sources, options, settings, unsafe_fixes=fixing.unsafe_fixes, to_stderr=bool(piped)
    )


def pipe(code: str, encoding: str, errors: str = "strict") -> None:
    """Print code as it came: in its encoding, with its ends of lines on every system."""
    sys.stdout.flush()
    sys.stdout.buffer.write(code.encode(encoding, errors))
    sys.stdout.buffer.flush()


def _show(done: Fixed, planned: Plan, options: Options) -> int:
    """Print the changes as a unified diff; 1 if there are any, 2 if something could not be done."""
    piped = {job.shown: job.encoding for job in planned.jobs if job.text is not None}
    for path, change in done.changes.items():
        show_patch(path, change, piped.get(path))
    tell_errors(done.report, options)
    if not options.quiet:
        number = done.report.fixed
        click.echo(f"would fix {number} finding{'' if number == 1 else 's'}", err=True)
    if done.report.errors:
        return 2
    return int(bool(done.changes) and not options.exit_zero)


def show_patch(path: str, change: Change, encoding: str | None = None) -> None:
    """Print a change as a unified diff: to a terminal in its encoding, else in that of the file, so that it applies."""
    encoding = encoding or encoding_of(bytes_of(Path(path)))
    mark = "\ufeff" if encoding == "utf-8-sig" else ""
    if change.before == change.after:
        return
    head, *lines = _unified(path, mark + change.before, mark + change.after)
    if sys.stdout.isatty():
        pipe("".join((head, *lines)), sys.stdout.encoding or "utf-8", "backslashreplace")
        return
    pipe(head, sys.getfilesystemencoding(), "surrogateescape")
    pipe("".join(lines), "utf-8" if mark else encoding)


def _unified(path: str, before: str, after: str) -> Iterator[str]:
    """The head and the lines of a unified diff."""
    import difflib

    # Not by splitlines, which ends a line at a form feed too.
    old, new = (list(io.StringIO(text, newline="\n")) for text in (before, after))
    source, target, *lines = difflib.unified_diff(old, new, path, path)
    yield source + target
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
