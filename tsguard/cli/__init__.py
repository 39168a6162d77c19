"""The command line: parse, call one function, print.

Commands are imported when they are asked for, so that ``tsguard --version`` costs
little more than importing click.
"""

from __future__ import annotations

import errno
import gc
import importlib
import io
import os
import sys

import click

from tsguard.report.likely import nearest
from tsguard.version import __version__

_COMMANDS = ("check", "lint", "fix", "migrate", "loader", "server", "explain", "rules", "init", "completion")
_OBJECTS_PER_COLLECTION = 50_000


class _LazyGroup(click.Group):
    """Commands that live in a module each, named like them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"tsguard.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"there is no command {args[0]!r}; {_instead(args[0])}")
        return super().resolve_command(ctx, args)


def _instead(word: str) -> str:
    # The colon of a drive of Windows is not that of a target.
    ends = [at for at, character in enumerate(f"{word}:") if character == ":"]
    if any(os.path.exists(word[:end]) for end in ends):
        return f"did you mean `tsguard check {word}`?"
    near = nearest(word, _COMMANDS)
    return f"did you mean {near[0]!r}?" if near else f"the commands are {', '.join(_COMMANDS)}"


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tsguard", message="%(prog)s %(version)s")
def group() -> None:
    """Find out what breaks in TorchScript before it breaks, and try it for real."""


def main() -> None:
    """The console script: exits 0, 1 for findings, 2 when something kept it from its work."""
    # Nearly all that a command makes lives until it ends: to look through it again and again frees nothing,
    # neither while files are analysed nor while the report is put together.
    gc.set_threshold(_OBJECTS_PER_COLLECTION)
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a pipe of another encoding loses no report
            stream.reconfigure(errors="backslashreplace")
    try:
        status = group.main(prog_name="tsguard", standalone_mode=False)
    except click.Abort:
        click.echo("interrupted", err=True)
        status = 130
    except click.ClickException as error:
        _tell(error)
        status = error.exit_code
    except BrokenPipeError:  # the reader of a pipe, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 141
    except Exception as error:
        _tell_of_the_unexpected(error)
        status = 2
    # What is left goes with the process: Python would walk all of it once more on its way out.
    gc.freeze()
    sys.exit(status)


def _open_closed_streams() -> None:
    """What a caller has closed (``>&-``) is written nowhere."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, io.TextIOWrapper(io.FileIO(os.devnull, mode), encoding="utf-8"))


def _tell_of_the_unexpected(error: Exception) -> None:
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        click.echo(f"the report cannot be written: {error.strerror}", err=True)
        return
    import traceback

    traceback.print_exc()
    click.echo("this is a bug in tsguard; please report it with the text above", err=True)


def _tell(error: click.ClickException) -> None:
    """An error as the commands tell theirs, and where the options are listed."""
    from tsguard.cli.output import tell_error

    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        return
    tell_error(error.format_message())
    if isinstance(error, click.UsageError) and error.ctx is not None:
        click.echo(f"`{error.ctx.command_path} --help` shows how to use it", err=True)
