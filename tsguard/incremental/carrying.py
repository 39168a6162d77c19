"""The judgement of a target carried over an edit that moved it but did not concern it."""

from __future__ import annotations

import re
from dataclasses import replace

from tsguard.incremental.outline import Outline
from tsguard.inspection.inspecting import InspectedTarget
from tsguard.project import Target
from tsguard.report import Edit, Finding, Fix, Unknown
from tsguard.report.records import dataclass

# A message with a line in it holds only as long as that line stays.
_LINE = re.compile(r"\bline \d")

_Flags = tuple[str, bool, bool, bool]


class Elsewhere(Exception):
    """A place lies in no segment that the judgement rests on: it cannot be moved."""


@dataclass(frozen=True, slots=True)
class Carried:
    """A target as judged, and what of its file the judgement rests on."""

    inspected: InspectedTarget
    flags: _Flags
    outline: Outline
    closure: tuple[int, ...]


def flags_of(target: Target, is_scripted_only: bool) -> _Flags:
    """What the rest of a file decides about a target besides what its names mean."""
    return (target.kind, target.collates, target.compiled, is_scripted_only)


def carry(before: Carried, flags: _Flags, outline: Outline, line: int, shown: str) -> Carried | None:
    """What an earlier judgement says of a target that is now on ``line``; None where it must be judged anew."""
    closure = outline.closure(line)
    if flags != before.flags or outline.names != before.outline.names:
        return None
    if outline.texts(closure) != before.outline.texts(before.closure):
        return None
    try:
        inspected = _moved(before, _Moves(before, outline, closure), shown)
    except Elsewhere:
        return None
    return Carried(inspected, flags, outline, closure)


class _Moves:
    """Where the lines of a judgement's segments are now."""

    def __init__(self, before: Carried, outline: Outline, closure: tuple[int, ...]) -> None:
        self._old = before.outline
        self._shifts = {
            then: outline.segments[now].first - before.outline.segments[then].first
            for then, now in zip(before.closure, closure, strict=True)
        }
        self.nothing_moved = not any(self._shifts.values())

    def line(self, line: int) -> int:
        shift = self._shifts.get(self._old.at(line))
        if shift is None:
            raise Elsewhere
        return line + shift

    def text(self, text: str | None) -> None:
        """See that a text can stay as it is."""
        if text is not None and not self.nothing_moved and _LINE.search(text):
            raise Elsewhere


def _moved(before: Carried, moves: _Moves, shown: str) -> InspectedTarget:
    inspected, report = before.inspected, before.inspected.report

    def move(place: Unknown) -> Unknown:
        moves.text(place.why)
        return replace(place, line=moves.line(place.line)) if place.path == shown else place

    return replace(
        inspected,
        end_line=moves.line(inspected.end_line),
        findings=tuple(_finding(finding, moves, shown) for finding in inspected.findings),
        report=replace(
            report,
            line=moves.line(report.line),
            script=replace(report.script, unknown=tuple(map(move, report.script.unknown))),
            trace=replace(report.trace, unknown=tuple(map(move, report.trace.unknown))),
            mode=replace(report.mode, unknown=tuple(map(move, report.mode.unknown))),
            export=replace(report.export, unknown=tuple(map(move, report.export.unknown))),
        ),
    )


def _finding(finding: Finding, moves: _Moves, shown: str) -> Finding:
    moves.text(finding.message)
    moves.text(finding.help)
    fix = _fix(finding.fix, moves, shown) if finding.fix is not None else None
    if finding.path != shown:
        return replace(finding, fix=fix)
    return replace(finding, line=moves.line(finding.line), end_line=moves.line(finding.end_line), fix=fix)


def _fix(fix: Fix, moves: _Moves, shown: str) -> Fix:
    def moved(edit: Edit) -> Edit:
        if edit.path != shown:
            return edit
        return replace(edit, line=moves.line(edit.line), end_line=moves.line(edit.end_line))

    return replace(fix, edits=tuple(map(moved, fix.edits)))
