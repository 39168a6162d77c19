"""Comments that suppress findings: ``# tsguard: ignore[TSG101]`` and ``# noqa: TSG101``."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator

from tsguard.report.records import dataclass
from tsguard.source.text import SourceFile, Span

_MARKER = re.compile(r"#.*(?:tsguard:|noqa)", re.IGNORECASE)
_OUR_MARKER = re.compile(r"#.*(?:tsguard:|noqa.*TSG)", re.IGNORECASE)
_OWN = re.compile(r"#\s*tsguard:\s*(?P<scope>ignore-file|ignore)(?![\w-])(?:\s*\[(?P<codes>[^\]]*)\]?)?")
_NOQA = re.compile(
    r"#\s*noqa(?![\w-])(?P<colon>\s*:\s*(?P<codes>[A-Z]+\d+(?:[,\s]+[A-Z]+\d+)*)?)?", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Suppression:
    """A comment that hides findings.

    ``codes`` are codes or names of rules as written, None for all.  ``whole_file``
    tells that it holds for the file, not for its line; ``foreign`` that the comment
    belongs to every linter (``noqa``).
    """

    span: Span
    codes: tuple[str, ...] | None
    whole_file: bool = False
    foreign: bool = False

    def covers(self, first_line: int, last_line: int) -> bool:
        """Whether it speaks of a finding that begins and ends on these lines."""
        return self.whole_file or self.span.line in (first_line, last_line)


def suppressions(file: SourceFile, ours_only: bool = False) -> list[Suppression]:
    """The suppressions in a file, in order; as far as it can be tokenized.

    A file without any that names tsguard need not be tokenized if ``ours_only``.
    """
    if not (_OUR_MARKER if ours_only else _MARKER).search(file.text):
        return []
    return [found for token in _comments(file.text) for found in _in_comment(token)]


def _comments(text: str) -> Iterator[tokenize.TokenInfo]:
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline=None).readline):
            if token.type == tokenize.COMMENT:
                yield token
    except (tokenize.TokenError, SyntaxError):
        return  # what follows an error is reported as a syntax error, nothing else


def _in_comment(token: tokenize.TokenInfo) -> Iterator[Suppression]:
    line, offset = token.start
    for own in _OWN.finditer(token.string):
        span = Span(line, offset + own.start() + 1, line, offset + own.end() + 1)
        yield Suppression(span, _split(own["codes"]), own["scope"] == "ignore-file")
    noqa = _NOQA.search(token.string)
    # "noqa: some words" is no list of codes: it is left to the tools that understand it.
    if noqa and bool(noqa["colon"]) == bool(noqa["codes"]):
        span = Span(line, offset + noqa.start() + 1, line, offset + noqa.end() + 1)
        yield Suppression(span, _split(noqa["codes"]), foreign=True)


def _split(codes: str | None) -> tuple[str, ...] | None:
    return None if codes is None else tuple(re.findall(r"[^,\s]+", codes))
