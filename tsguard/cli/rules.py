"""``tsguard rules``: all rules in a table."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Iterator

import click

from tsguard.rules import Rule, all_rules


@click.command("rules")
@click.option(
    "--output-format", type=click.Choice(["text", "json"]), default="text", help="The format of the list."
)
def command(output_format: str) -> int:
    """List all rules."""
    listed = all_rules()
    if output_format == "json":
        click.echo(json.dumps([_plain(rule) for rule in listed], indent=1))
    else:
        click.echo("\n".join(lines(listed, width())))
    return 0


def _plain(rule: Rule) -> dict[str, str | None]:
    names = ("code", "name", "family", "severity", "fix", "torch", "summary", "message", "help")
    return {name: getattr(rule, name) for name in names}


def width() -> int:
    """The columns that there are; a pipe wants one line a rule."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else sys.maxsize


def lines(listed: list[Rule], wide: int) -> Iterator[str]:
    """Rules, one after the other, with their summaries wrapped."""
    width = max((len(rule.name) for rule in listed), default=0)
    for rule in listed:
        start = f"{rule.code}  {rule.name:{width}}  {rule.severity:7}  "
        room = max(wide - len(start), 24)
        first, *rest = textwrap.wrap(rule.summary, room) if len(rule.summary) > room else [rule.summary]
        yield f"{start}{first}"
        yield from (f"{'':{len(start)}}{line}" for line in rest)
