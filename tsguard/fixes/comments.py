"""Fixes of comments that suppress nothing."""

from __future__ import annotations

import re

from tsguard.fixes.composing import safe
from tsguard.fixes.edits import edit
from tsguard.report import Fix
from tsguard.source import SourceFile, Span
from tsguard.source.suppressions import Suppression


def unsuppress(file: SourceFile, comment: Suppression, code: str | None) -> Fix | None:
    """Remove a code from a suppression, or all of it where nothing else is in it (None: where it names none)."""
    span = comment.span
    line = file.lines[span.line - 1]
    written = line[span.column - 1 : span.end_column - 1]
    if code is not None and len(comment.codes or ()) > 1:
        kept, is_first = re.subn(rf"(:\s*){re.escape(code)}[,\s]+(?=\w)", r"\1", written, count=1)
        if not is_first:
            kept = re.sub(rf"[,\s]+{re.escape(code)}(?![\w-])", "", written, count=1)
        return safe(f"Remove {code}", edit(file, span, kept))
    before, after = line[: span.column - 1].rstrip(), line[span.end_column - 1 :].strip()
    reason = after if after.startswith("#") or not after else f"# {after}"
    whole = Span(span.line, len(before) + 1, span.line, len(line) + 1)
    if before or reason:
        change = edit(file, whole, f"{'  ' if before and reason else ''}{reason}")
    else:
        # Its line was for the comment alone.
        is_last = span.line == len(file.lines)
        end = (span.line, len(line) + 1) if is_last else (span.line + 1, 1)
        change = edit(file, Span(span.line, 1, *end), "")
    return safe("Remove the suppression", change)
