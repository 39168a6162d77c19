"""Fixes put into a text: each whole or not at all, and none over another."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable

from tsguard.report import Edit, Fix
from tsguard.source import SourceFile

_Range = tuple[int, int]


def applied(file: SourceFile, fixes: Iterable[Fix]) -> tuple[str, int]:
    """The text with as many of the fixes as do not touch each other, and their number.

    Several fixes may need the same edit, such as an import; it is made once.
    """
    # In the order of their places, so that an edit's neighbours are those that it may touch.
    ranges: list[_Range] = []
    made: set[Edit] = set()
    count = 0
    for fix in dict.fromkeys(fixes):
        new = [edit for edit in fix.edits if edit not in made]
        if new and not any(_touches(_range(file, edit), ranges) for edit in new):
            made.update(new)
            for edit in new:
                insort(ranges, _range(file, edit))
            count += 1
    parts, done = [], 0
    for edit in sorted(made, key=lambda edit: _range(file, edit)):
        start, end = _range(file, edit)
        parts += [file.text[done:start], edit.content]
        done = end
    return "".join((*parts, file.text[done:])), count


def _touches(range_: _Range, others: list[_Range]) -> bool:
    """Whether a range meets one of others, which do not meet each other and are in order."""
    at = bisect_left(others, range_)
    return any(start <= range_[1] and range_[0] <= end for start, end in others[max(at - 1, 0) : at + 1])


def _range(file: SourceFile, edit: Edit) -> _Range:
    return file.offset(edit.line, edit.column), file.offset(edit.end_line, edit.end_column)
