"""Edits: the difference between a place's text and what it is to become."""

from __future__ import annotations

import ast
import itertools
import re

from tsguard.report import Edit
from tsguard.source import SourceFile, Span
from tsguard.source.functions import first_line

_WORD = re.compile(r"\w+|\W")


def between(file: SourceFile, span: Span) -> str:
    """The text of a place."""
    return file.text[file.offset(span.line, span.column) : file.offset(span.end_line, span.end_column)]


def edit(file: SourceFile, span: Span, new: str) -> Edit | None:
    """The smallest edit that makes the text of a place a new one; None where that is no change."""
    old = between(file, span)
    if old == new:
        return None
    start = _shared(_WORD.findall(old), _WORD.findall(new))
    end = _shared(_WORD.findall(old[start:])[::-1], _WORD.findall(new[start:])[::-1])
    begin = file.offset(span.line, span.column)
    line, column = file.position(begin + start)
    end_line, end_column = file.position(begin + len(old) - end)
    return Edit(file.path, line, column, end_line, end_column, new[start : len(new) - end])


def _shared(one: list[str], other: list[str]) -> int:
    """How many characters two texts have in common at their beginnings, in whole words."""
    pairs = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return sum(len(word) for word, _ in pairs)


def indentation(line: str) -> str:
    """The blanks at the beginning of a line."""
    return line[: len(line) - len(line.lstrip())]


def insertion(file: SourceFile, line: int, column: int, text: str) -> Edit:
    """The edit that puts a text between two characters."""
    return Edit(file.path, line, column, line, column, text)


def insertion_above(file: SourceFile, node: ast.stmt, text: str) -> Edit:
    """The edit that puts lines above a statement and its decorators."""
    return insertion(file, first_line(node), 1, text)


def insertion_below(file: SourceFile, node: ast.stmt, text: str) -> Edit:
    """The edit that puts a text behind the last line of a statement."""
    last = node.end_lineno or node.lineno
    return insertion(file, last, len(file.lines[last - 1]) + 1, text)
