"""What the walks report: a rule broken at a place, and what could not be told."""

from __future__ import annotations

import ast
from dataclasses import field

from tsguard.language.rule_names import RuleName
from tsguard.project.modules import Module
from tsguard.report.records import dataclass
from tsguard.source import Span
from tsguard.source.unparsing import unparsed


@dataclass(frozen=True, slots=True)
class Event:
    """A rule (by name) broken at a place; ``facts`` fill the wording of its page.

    ``chain`` is the calls that lead there, outermost first; ``cause`` is what is wrong in
    the package that the place calls, where that is what breaks the rule.
    """

    rule: RuleName
    module: Module
    span: Span
    facts: dict[str, str] = field(default_factory=dict)
    chain: tuple[str, ...] = ()
    cause: Event | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """What makes two events one finding."""
        return (self.rule, self.module.file.path, self.span, tuple(sorted(self.facts.items())))


@dataclass(frozen=True, slots=True)
class Gap:
    """A place where the source does not tell enough to judge, why, and what to do about it."""

    module: Module
    line: int
    why: str
    help: str = ""

    @property
    def key(self) -> tuple[str, int, str]:
        """What makes two gaps one."""
        return (self.module.file.path, self.line, self.why)


def with_article(noun: str) -> str:
    """ "a list", "an int"."""
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"


def text_of(node: ast.AST, limit: int = 60) -> str:
    """A piece of source for a message, on one line."""
    text = " ".join(unparsed(node).split())
    return text if len(text) <= limit else f"{text[: limit - 3]}..."
