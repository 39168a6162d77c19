"""``tsguard explain``: a rule's page in the terminal."""

from __future__ import annotations

import sys

import click

from tsguard.cli.options import Unusable
from tsguard.cli.rules import lines, width
from tsguard.rules import Rule, UnknownRule, all_rules, covers, rule, split_page
from tsguard.settings.selection import UnknownSelector, nearest_rule, selector


@click.command("explain")
@click.argument("code")
def command(code: str) -> int:
    """Explain a rule, given its code or name, or list the rules with a code prefix or of a family."""
    try:
        found = rule(code)
    except UnknownRule:
        listed = _covered(code)
        if listed:
            click.echo("\n".join(lines(listed, width())))
            return 0
        raise Unusable(f"no rule has the code or name {code!r}{nearest_rule(code)}") from None
    _show(found)
    return 0


def _covered(text: str) -> list[Rule]:
    """The rules that a selector of several stands for; none for what is no selector."""
    try:
        wanted = selector(text)
    except UnknownSelector:
        return []
    return [each for each in all_rules() if covers(wanted, each.code)]


def _show(found: Rule) -> None:
    from rich.console import Console
    from rich.markdown import Markdown

    _, body = split_page(found.page.read_text(encoding="utf-8"))
    fix = "" if found.fix == "none" else f" · {found.fix} fix"
    facts = f"{found.family} · {found.severity}{fix} · torch {found.bounds()}"
    title = f"# {found.code} {found.name}\n\n*{facts}*\n\n"
    if not sys.stdout.isatty():
        click.echo(title + body.strip())  # a file or a pipe wants the Markdown itself
        return
    Console(width=min(Console().width, 100)).print(Markdown(title + body))
