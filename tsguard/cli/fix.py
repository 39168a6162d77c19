"""``tsguard fix``: code is mended until torch scripts it, and eager does as before."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from tsguard.cli.fixing import show_patch
from tsguard.cli.options import (
    Options,
    Unusable,
    common_options,
    input_option,
    is_typed,
    python_option,
    takes,
)
from tsguard.cli.output import count, tell_error
from tsguard.repairing.fixing import Change, write_file
from tsguard.repairing.plan import before_changes, in_few_words
from tsguard.repairing.results import Repaired, Step
from tsguard.report import Error
from tsguard.runtime.shown import first_line
from tsguard.settings.config import ConfigError
from tsguard.settings.requests import parse
from tsguard.source.text import is_notebook


@dataclass(frozen=True, slots=True)
class Repairing:
    """How ``tsguard fix`` is to go about it."""

    inputs: tuple[str, ...] = ()
    write: bool = False
    allow_dirty: bool = False
    timeout: float = 60.0
    python: Path | None = None


_OPTIONS = (
    input_option,
    click.option(
        "--write", is_flag=True, help="Write the changes to the files.  [default: show them as a diff]"
    ),
    click.option("--allow-dirty", is_flag=True, help="Write to files that have uncommitted changes."),
    click.option(
        "--timeout",
        type=click.FloatRange(0),
        metavar="SECONDS",
        help="The time limit for each step.  [default: 60]",
    ),
    python_option,
)


@click.command("fix")
@click.argument("targets", nargs=-1, required=True, metavar="TARGET...")
@takes(Repairing, "wanted", _OPTIONS)
@common_options
def command(options: Options, wanted: Repairing, targets: tuple[str, ...]) -> int:
    """Repair code until torch.jit.script compiles it.

    A copy of the code is changed step by step.  After each step the eager module must give the same results as
    before, and torch.jit.script is tried again.  TARGET is a file, FILE:Name, FILE:Name(64, heads=4) or
    package.module:Name.
    """
    for name in _OF_REPORTS:
        if is_typed(name):
            raise click.UsageError(
                f"`tsguard fix` writes no report: --{name.replace('_', '-')} is not for it"
            )
    repaired, errors = mended(options, wanted, targets)
    if errors:
        return 2
    return int(any(one.after.status != "ok" for one in repaired) and not options.exit_zero)


# Options that tell of a report how and where it is to be written.
_OF_REPORTS = ("output_format", "output", "statistics", "update_baseline")


def mended(
    options: Options, wanted: Repairing, targets: Sequence[str]
) -> tuple[Sequence[Repaired], Sequence[Error]]:
    """Repair targets, show or write the changes, and tell what became of each."""
    from tsguard.repairing.mending import run

    settings = options.settings([Path(target.partition(":")[0]) for target in targets])
    requests = [parse(target, settings) for target in targets]

    def tell(text: str) -> None:
        if options.verbose:
            click.echo(text, err=True)

    try:
        repaired, errors = run(requests, settings, wanted.inputs, wanted.python, wanted.timeout, tell)
    except ConfigError as error:
        raise Unusable(str(error)) from None
    why = "notebooks are left as they are: move what is to be repaired to a file"
    errors += tuple(Error(why, request.given) for request in requests if is_notebook(request.path))
    for error_ in errors:
        named = error_.path is None or error_.message.startswith(error_.path)
        tell_error(error_.message if named else f"{error_.path}: {error_.message}")
    changes = _together(repaired)
    if wanted.write:
        _write(changes, wanted.allow_dirty)
    else:
        for path, change in changes.items():
            show_patch(path, change)
    for number, one in enumerate(repaired):
        made = () if wanted.write else [earlier.changes for earlier in repaired[: number + 1]]
        _say(replace(one, left=tuple(before_changes(step, made) for step in one.left)), options)
    if not options.quiet and changes:
        verb = "changed" if wanted.write else "would change"
        click.echo(f"{verb} {count(len(changes), 'file')}", err=True)
    return repaired, errors


def _together(repaired: Iterable[Repaired]) -> dict[str, Change]:
    """The changes of all repairs, each of which went on from the one before."""
    found: dict[str, Change] = {}
    for one in repaired:
        for path, change in one.changes.items():
            before = found[path].before if path in found else change.before
            found[path] = Change(before, change.after)
    return found


def _write(changes: dict[str, Change], allow_dirty: bool) -> None:
    """Write the changes, unless that would mix with changes that nobody could take back."""
    dirty = [] if allow_dirty else _dirty(list(changes))
    if dirty:
        raise Unusable(
            f"{', '.join(dirty)} has uncommitted changes:"
            " commit them first, or pass --allow-dirty; nothing was written"
        )
    for path, change in changes.items():
        try:
            write_file(Path(path), change.after)
        except OSError as error:
            raise Unusable(f"{path} cannot be changed: {error.strerror}") from None


def _dirty(paths: Sequence[str]) -> list[str]:
    """The files with changes that are not committed; those outside of any repository have none."""
    found = []
    for path in paths:
        command = [
            "git",
            "-C",
            str(Path(path).resolve().parent),
            "status",
            "--porcelain",
            "--",
            Path(path).name,
        ]
        try:
            said = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError:
            return []
        if said.returncode == 0 and said.stdout.strip():
            found.append(path)
    return found


def _say(one: Repaired, options: Options) -> None:
    """What became of a target, and what is left."""
    words = _verdict(one)
    click.echo(f"{one.target}: {words}", err=True)
    if options.quiet or one.after.status == "ok":
        return
    if one.changes:
        click.echo(
            f"  {count(len(one.made), 'edit')} that eager does not notice, but that is not enough", err=True
        )
    if one.left:
        click.echo(f"  left to do by hand, in this order ({count(len(one.left), 'edit')}):", err=True)
    for number, step in enumerate(one.left, 1):
        _say_step(number, step)
    if one.parts:
        click.echo(f"  these parts script by themselves: {in_few_words(one.parts)}", err=True)


def _say_step(number: int, step: Step) -> None:
    finding = step.finding
    click.echo(f"  {number}. {finding.path}:{finding.line}: {finding.code} {finding.message}", err=True)
    if step.text:
        click.echo(f"       {step.text}", err=True)
    if step.others:
        more = ", ".join(map(str, step.others[:8])) + (", ..." if len(step.others) > 8 else "")
        click.echo(f"     the same at {'line' if len(step.others) == 1 else 'lines'} {more}", err=True)
    if finding.help:
        click.echo(f"     help: {finding.help}", err=True)
    for line in ("such as, in an example of the rule:", *step.sketch) if step.sketch else ():
        click.echo(f"     {line}", err=True)


def _to_give(needed: tuple[str, ...]) -> str:
    """What to give: the arguments of a constructor by their names, or other inputs than those that were tried."""
    if not needed:
        return ""
    if all(name.isidentifier() for name in needed):
        return f"; give {', '.join(f'{name}=...' for name in needed)}"
    return f"; {', '.join(needed)} was tried: give inputs that it takes with --input"


def _verdict(one: Repaired) -> str:
    before, after = one.before, one.after
    error = first_line(after.error.message) if after.error is not None else ""
    if before.status == "ok":
        return "torch.jit.script takes it as it is"
    if after.status == "ok":
        edits = count(len(one.made), "edit")
        return f"torch.jit.script takes it after {edits}; eager is unchanged on {count(after.inputs, 'call')}"
    if after.status == "stopped":
        return f"it could not be run: {error}{_to_give(after.needed)}"
    return {
        "refused": f"torch.jit.script refuses it still: {error}",
        "raises": f"it scripts, and the compiled code raises: {error}",
        "diverges": f"it scripts, and the compiled code disagrees with eager {error}",
        "changed": f"no repair was found that changes nothing else: {after.changed}",
    }.get(after.status, f"it could not be run: {error}")
