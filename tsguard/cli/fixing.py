"""``--fix``, ``--unsafe-fixes`` and ``--diff`` of ``tsguard lint``."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from tsguard.cli.options import Decorator, Options, Unusable, takes
from tsguard.cli.output import count, progress, publish, tell_errors
from tsguard.report.records import dataclass
from tsguard.settings.config import Settings
from tsguard.settings.requests import Plan
from tsguard.source.text import is_notebook

if TYPE_CHECKING:
    from tsguard.repairing.fixing import Fixed


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
        return _show(done, options)
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


def _show(done: Fixed, options: Options) -> int:
    """Print the changes as a unified diff; 1 if there are any, 2 if something could not be done."""
    for path, change in done.changes.items():
        patch = "".join(unified(path, change.before, change.after))
        pipe(patch, sys.stdout.encoding or "utf-8", "backslashreplace")
    tell_errors(done.report, options)
    if not options.quiet:
        number = done.report.fixed
        click.echo(f"would fix {number} finding{'' if number == 1 else 's'}", err=True)
    if done.report.errors:
        return 2
    return int(bool(done.changes) and not options.exit_zero)


def unified(path: str, before: str, after: str) -> Iterator[str]:
    """The lines of a unified diff."""
    import difflib

    # Not by splitlines, which ends a line at a form feed too.
    old, new = (list(io.StringIO(text, newline="\n")) for text in (before, after))
    for line in difflib.unified_diff(old, new, path, path):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
