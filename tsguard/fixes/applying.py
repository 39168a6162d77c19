"""Fixes put into a text: each whole or not at all, and none over another."""

from __future__ import annotations

from collections.abc import Iterable

from tsguard.report import Edit, Fix
from tsguard.source import SourceFile


def applied(file: SourceFile, fixes: Iterable[Fix]) -> tuple[str, int]:
    """The text with as many of the fixes as do not touch each other, and their number.

    Several fixes may need the same edit, such as an import; it is made once.
    """
    made: set[Edit] = set()
    count = 0
    for fix in dict.fromkeys(fixes):
        new = [edit for edit in fix.edits if edit not in made]
        if new and not any(_touch(file, edit, other) for edit in new for other in made):
            made.update(new)
            count += 1
    text = file.text
    for edit in sorted(made, key=lambda edit: _range(file, edit), reverse=True):
        start, end = _range(file, edit)
        text = text[:start] + edit.content + text[end:]
    return text, count


def _touch(file: SourceFile, one: Edit, other: Edit) -> bool:
    (start, end), (other_start, other_end) = _range(file, one), _range(file, other)
    return start <= other_end and other_start <= end


def _range(file: SourceFile, edit: Edit) -> tuple[int, int]:
    return file.offset(edit.line, edit.column), file.offset(edit.end_line, edit.end_column)
