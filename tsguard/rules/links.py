"""Where the project and the pages of its rules are, and the links that a terminal shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TextIO

from tsguard.rules import UnknownRule, rule

# Said here, and followed or checked wherever else it is written (tests/test_links.py).
REPOSITORY = "https://github.com/tsguard/tsguard"
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


# What terminals that show links (OSC 8) set in their environment.
_SIGNS = ("DOMTERM", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "WT_SESSION")
_PROGRAMS = frozenset(["ghostty", "Hyper", "iTerm.app", "rio", "Tabby", "vscode", "WarpTerminal", "WezTerm"])
_TERMINALS = ("alacritty", "foot", "xterm-ghostty", "xterm-kitty")
_VTE_WITH_LINKS = 5000


def takes_links(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Whether a stream is a terminal that shows links; FORCE_HYPERLINK decides where it is set."""
    forced = environment.get("FORCE_HYPERLINK")
    if forced is not None:
        return forced != "0"
    if not stream.isatty():
        return False
    version = environment.get("VTE_VERSION", "")
    return (
        any(sign in environment for sign in _SIGNS)
        or environment.get("TERM_PROGRAM") in _PROGRAMS
        or environment.get("TERM", "").startswith(_TERMINALS)
        or (version.isdigit() and int(version) >= _VTE_WITH_LINKS)
    )


def linked(code: str) -> str:
    """A code that leads to its page where it is clicked."""
    address = local_page(code)
    return code if address is None else f"\x1b]8;;{address}\x1b\\{code}\x1b]8;;\x1b\\"
