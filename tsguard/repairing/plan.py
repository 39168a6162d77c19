"""What is left to do by hand where a repair did not get through: in which order, where, and how it is written instead."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tsguard.fixes.places import functions_around
from tsguard.repairing.fixing import Change
from tsguard.repairing.results import Judged, Step
from tsguard.repairing.sketches import sketch
from tsguard.report import Finding
from tsguard.source import SourceFile
from tsguard.source.text import Span, lines_of

# What a function with *args is told of their uses goes away with them.
_CONSEQUENCES = {"parameter-kind": frozenset({"undefined-name", "keyword-unpacking", "starred-list"})}


def steps_by_hand(
    findings: Sequence[Finding], farthest: Judged, read: Callable[[Path], SourceFile]
) -> tuple[Step, ...]:
    """The edits that are left, what torch comes to first before the others; findings of one cause are one step.

    Args:
        read: a file as the findings were made in.
    """
    blocking = [finding for finding in findings if finding.severity == "error"]
    places = set(farthest.places)

    def order(finding: Finding) -> tuple[bool, str, int]:
        return ((finding.path, finding.line) not in places, finding.path, finding.line)

    steps: dict[tuple[str, int, str], list[Finding]] = {}
    for finding in sorted(blocking, key=order):
        file = read(Path(finding.path))
        around = functions_around(file, Span(finding.line, finding.column, finding.line, finding.column))
        line = around[0].lineno if around else 0
        cause = next((c for c, names in _CONSEQUENCES.items() if finding.name in names), "")
        follows = (finding.path, line, cause) in steps
        steps.setdefault((finding.path, line, cause if follows else finding.name), []).append(finding)
    return tuple(_step(found, read(Path(found[0].path))) for found in steps.values())


def _step(found: list[Finding], file: SourceFile) -> Step:
    first = found[0]
    others = sorted({f.line for f in found} - {first.line})
    text = file.lines[first.line - 1].strip() if first.line <= len(file.lines) else ""
    return Step(first, tuple(others), text, sketch(first, text))


def line_in(before: str, after: str, line: int) -> int:
    """Where a line of a text is in another: the same line, or the one that stands in its place."""
    old, new = lines_of(before), lines_of(after)
    for _, start, end, there, there_end in difflib.SequenceMatcher(None, old, new, False).get_opcodes():
        if start < line <= end:
            return max(1, min(there + line - start, there_end))
    return line


def before_changes(step: Step, changes: Sequence[Mapping[str, Change]]) -> Step:
    """A step at the lines that files had before changes that were made one after the other."""
    finding, others = step.finding, step.others
    for made in reversed(changes):
        change = made.get(finding.path)
        if change is not None:
            finding = replace(finding, line=line_in(change.after, change.before, finding.line))
            others = tuple(line_in(change.after, change.before, line) for line in others)
    return replace(step, finding=finding, others=others)


def in_few_words(parts: Sequence[str], most: int = 8) -> str:
    """Submodules by their paths, those of one list of modules as one: ``blocks.*.norm (12)``."""
    alike: dict[str, list[str]] = {}
    for part in parts:
        alike.setdefault(re.sub(r"(?<=\.)\d+(?=\.|$)", "*", part), []).append(part)
    told = [f"{name} ({len(same)})" if len(same) > 1 else same[0] for name, same in alike.items()]
    more = f" and {len(told) - most} more" if len(told) > most else ""
    return ", ".join(told[:most]) + more
