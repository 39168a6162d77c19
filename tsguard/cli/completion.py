"""``tsguard completion``: completion for the shell."""

from __future__ import annotations

import os
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from tsguard.cli.options import Unusable

# Where each shell looks for completions by itself, below the home folder.
_FILES = {
    "bash": ".local/share/bash-completion/completions/tsguard",
    "zsh": ".local/share/zsh/site-functions/_tsguard",
    "fish": ".config/fish/completions/tsguard.fish",
}


@click.command("completion", short_help="Print or install the completion script for your shell.")
@click.argument("shell", required=False, type=click.Choice(list(_FILES)))
@click.option("--install", is_flag=True, help="Write the script where the shell looks for it.")
def command(shell: str | None, install: bool) -> int:
    """Print the completion script for a shell, by default the one in SHELL.

    With --install it is written to the folder that bash (with bash-completion) and fish search; for zsh, that
    folder must be in fpath.
    """
    from tsguard.cli import group

    chosen = shell or Path(os.environ.get("SHELL", "")).name
    made = get_completion_class(chosen) if chosen in _FILES else None
    if made is None:
        raise Unusable(f"name the shell: {', '.join(_FILES)}")
    script = made(group, {}, "tsguard", "_TSGUARD_COMPLETE").source()
    if not install:
        click.echo(script)
        return 0
    file = Path.home() / _FILES[chosen]
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(script + "\n", encoding="utf-8")
    except OSError as error:
        raise Unusable(f"{file} cannot be written: {error.strerror}") from None
    click.echo(f"written to {file}; open a new shell")
    if chosen == "zsh":
        click.echo(f"zsh looks there with: fpath=({file.parent} $fpath), before compinit")
    return 0
