"""``tsguard explain``: a rule's page in the terminal."""

from __future__ import annotations

import sys

import click

from tsguard.cli.options import Unusable
from tsguard.rules import Rule, UnknownRule, rule, split_page
from tsguard.selection import nearest_rule


@click.command("explain")
@click.argument("code")
def command(code: str) -> int:
    """Show the page of a rule, named by its code or name."""
    try:
        found = rule(code)
    except UnknownRule:
        raise Unusable(f"no rule has the code or name {code!r}{nearest_rule(code)}") from None
    _show(found)
    return 0


def _show(found: Rule) -> None:
    from rich.console import Console
    from rich.markdown import Markdown

    _, body = split_page(found.page.read_text(encoding="utf-8"))
    fix = "" if found.fix == "none" else f" · {found.fix} fix"
    facts = f"{found.family} · {found.severity}{fix} · torch {found.torch}"
    title = f"# {found.code} {found.name}\n\n*{facts}*\n\n"
    if not sys.stdout.isatty():
        click.echo(title + body.strip())  # a file or a pipe wants the Markdown itself
        return
    Console(width=min(Console().width, 100)).print(Markdown(title + body))
