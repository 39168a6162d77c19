"""Where the pages of rules can be read."""

from __future__ import annotations

from tsguard.rules import UnknownRule, rule

# The published documentation; whoever publishes it elsewhere says so here and in mkdocs.yml.
SITE = "https://tsguard.github.io/tsguard/"


def rule_url(code: str) -> str | None:
    """The address of a rule's page; None where no rule has the code."""
    try:
        return f"{SITE}reference/rules/{rule(code).page.stem}/"
    except UnknownRule:
        return None


def local_page(code: str) -> str | None:
    """The address of a rule's page as it is shipped, which needs no network."""
    try:
        return rule(code).page.absolute().as_uri()
    except UnknownRule:
        return None
