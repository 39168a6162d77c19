"""The registry of rules, read from the pages in ``rules/``.

A rule is its page: the front matter holds its code, name, family, severity and the
wording of its message and help; the body explains it and holds the Bad and Good
examples that the tests run on torch.  A rule that is broken in several ways words each
as a variant (``message.walrus: ...``); ``rule-name/variant`` names one.  ``torch`` gives the
releases for which a rule holds, ``torch.VARIANT`` those of a variant; so do the examples that
are of some releases only (a fence of ``python torch>=2.3``).  File names alone tell codes and names, so nothing is read until a rule is needed.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, cast

from tsguard.language.releases import allows
from tsguard.report import Family, Severity
from tsguard.report.records import dataclass

_PAGE_NAME = re.compile(r"(TSG\d{3,4})-([a-z0-9-]+)\.md")
FAMILIES: Mapping[str, Family] = {
    "TSG0": "tool",
    "TSG1": "script",
    "TSG2": "trace",
    "TSG3": "mode",
    "TSG4": "api",
    "TSG5": "pipeline",
    "TSG6": "export",
    "TSG7": "migration",
    "TSG9": "attempt",
}
"""The selector of each family.  Which family a rule is of, its page alone declares."""

_FENCE = re.compile(r"^```(\w*)(?: torch(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Wording:
    """A message and a help, or the templates of both."""

    message: str
    help: str | None


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule's front matter: what the tool needs to know to report it.

    Of the family "export": ``shapes`` is "open" for what concerns programs with open sizes only, ``doubt``
    "silent" for what says nothing of a verdict where it lies behind a condition that is not decided, and
    ``compiling``, by variant, what ``torch.compile(fullgraph=True)`` does: "breaks", "follows", or "" where nobody asked.
    """

    code: str
    name: str
    family: Family
    severity: Severity
    wordings: Mapping[str, Wording]
    outcome: str
    shapes: str
    doubt: str
    compiling: Mapping[str, str]
    fix: str
    torch: Mapping[str, str]
    summary: str
    page: Path

    @property
    def message(self) -> str:
        """The message's template, where no variant has its own."""
        return self.wordings[""].message

    @property
    def help(self) -> str | None:
        return self.wordings[""].help

    def bounds(self, variant: str = "") -> str:
        """The torch releases for which the rule, or a variant of it, holds: ``>=2.2,<2.4``."""
        return self.torch.get(variant, self.torch[""])

    @property
    def is_of_open_shapes(self) -> bool:
        return self.shapes == "open"

    @property
    def counts_in_doubt(self) -> bool:
        return self.doubt != "silent"

    def compiled(self, variant: str = "") -> str:
        """What torch.compile, asked for one graph, does with what breaks the rule, or a variant of it."""
        return self.compiling.get(variant, self.compiling.get("", ""))

    def worded(self, variant: str, facts: Mapping[str, str]) -> Wording:
        """The message and help for a variant ("" for none), filled in.

        Raises:
            KeyError: a template needs a fact that is not given, or no wording has this variant.
        """
        return _filled(self.wordings[variant], facts)


def _filled(wording: Wording, facts: Mapping[str, str]) -> Wording:
    return Wording(
        wording.message.format_map(facts), wording.help.format_map(facts) if wording.help else None
    )


class UnknownRule(LookupError):
    """No rule has this code or name."""


def _pages_folder() -> Path:
    package = Path(__file__).parent.parent
    shipped = package / "rule_pages"
    return shipped if shipped.is_dir() else package.parent / "rules"


@functools.cache
def pages() -> dict[str, Path]:
    """Every rule's code and its page, in the order of the codes."""
    matches = (_PAGE_NAME.fullmatch(path.name) for path in _pages_folder().glob("TSG*.md"))
    codes = {match[1]: _pages_folder() / match[0] for match in matches if match}
    return {code: codes[code] for code in sorted(codes, key=_in_order)}


def _in_order(code: str) -> tuple[str, int, str]:
    """TSG199 comes before TSG1000, and both before TSG200."""
    return code[:4], len(code), code


def covers(selector: str, code: str) -> bool:
    """Whether a selector takes in a code.

    A selector is a code, a family's (``TSG1``), the beginning of codes of three digits (``TSG11``
    for TSG110 to TSG119, and not for TSG1100), or "" for all.
    """
    if selector in ("", code):
        return True
    if selector in FAMILIES:
        return rule(code).family == FAMILIES[selector]
    return len(code) == len("TSG100") > len(selector) and code.startswith(selector)


@functools.cache
def _codes_by_name() -> dict[str, str]:
    return {path.stem.partition("-")[2]: code for code, path in pages().items()}


@functools.cache
def rule(key: str) -> Rule:
    """The rule with this code or name; a variant's name is its rule's name too.

    Raises:
        UnknownRule: no page has it.
    """
    key = key.partition("/")[0]
    path = pages().get(_codes_by_name().get(key, key.upper()))
    if path is None:
        raise UnknownRule(key)
    matter, body = split_page(path.read_text(encoding="utf-8"))
    return Rule(
        code=matter["code"],
        name=matter["name"],
        family=cast(Family, matter["family"]),
        severity=cast(Severity, matter["severity"]),
        wordings=_wordings(matter),
        outcome=matter.get("outcome", ""),
        shapes=matter.get("shapes", ""),
        doubt=matter.get("doubt", ""),
        compiling=_by_variant(matter, "compile"),
        fix=matter.get("fix", "none"),
        torch=_by_variant(matter, "torch"),
        summary=body.strip().partition("\n")[0],
        page=path,
    )


def _by_variant(matter: dict[str, str], name: str) -> dict[str, str]:
    """The values of ``name`` and of ``name.variant``, by variant."""
    split = ((key.partition("."), value) for key, value in matter.items())
    return {variant: value for (key, _, variant), value in split if key == name}


def _wordings(matter: dict[str, str]) -> dict[str, Wording]:
    base = Wording(matter["message"], matter.get("help"))
    variants = {key.partition(".")[2] for key in matter if key.startswith(("message.", "help."))}
    return {"": base} | {
        variant: Wording(
            matter.get(f"message.{variant}", base.message), matter.get(f"help.{variant}", base.help)
        )
        for variant in variants
    }


def all_rules() -> list[Rule]:
    """Every rule, in the order of the codes."""
    return [rule(code) for code in pages()]


def split_page(text: str) -> tuple[dict[str, str], str]:
    """A page's front matter and body."""
    _, front, body = text.split("---\n", 2)
    pairs = (line.partition(":") for line in front.splitlines() if line.strip())
    return {key.strip(): value.strip() for key, _, value in pairs}, body


def sections(body: str) -> dict[str, str]:
    """A page body's sections by their heading, in order."""
    parts = re.split(r"^## (.+)$", body, flags=re.MULTILINE)
    return dict(zip(parts[1::2], (part.strip() for part in parts[2::2]), strict=True))


class CodeBlock(NamedTuple):
    """A fenced block; ``torch`` bounds the releases that it is about, "" for those of its page."""

    language: str
    text: str
    torch: str


def code_blocks(section: str) -> list[CodeBlock]:
    """The fenced blocks of a section."""
    return [CodeBlock(match[1], match[3], match[2] or "") for match in _FENCE.finditer(section)]


@functools.cache
def holds(name: str, release: str) -> bool:
    """Whether the rule of a name, or of ``rule-name/variant``, holds for a torch release.

    Raises:
        UnknownRule: no page has it.
    """
    return allows(rule(name).bounds(name.partition("/")[2]), release)
