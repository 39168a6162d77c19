"""Verdicts and attempts as rows of cells, for the formats that people read."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from tsguard.report import (
    Attempt,
    AttemptError,
    Breakdown,
    Finding,
    Purpose,
    Report,
    Speedup,
    Submodule,
    TargetReport,
)

Tone = Literal["good", "bad", "doubtful", "faint", "plain"]

_TONES: dict[str, Tone] = {
    "ok": "good",
    "safe": "good",
    "blocked": "bad",
    "broken": "bad",
    "hazardous": "bad",
    "breaks": "bad",
    "failed": "bad",
    "diverged": "bad",
    "crashed": "bad",
    "timeout": "bad",
    "exports": "good",
    "compiles": "good",
    "refused": "bad",
    "specialised": "doubtful",
    "depends": "doubtful",
    "unknown": "faint",
    "skipped": "faint",
    "faster": "good",
    "slower": "doubtful",
}


def tone(verdict: str) -> Tone:
    """What a verdict or an outcome says of the matter."""
    return _TONES.get(verdict, "plain")


_CONFIRMED = {True: "confirms this", False: "does not confirm this: please report it"}


def said_by_torch(finding: Finding) -> str | None:
    """What an attempt says of a finding; None for nothing."""
    if finding.confirmed is not None:
        return _CONFIRMED[finding.confirmed]
    return "warns of it" if finding.warned else None


# The columns between those of script and mode.
_BY_PURPOSE: dict[Purpose, tuple[str, ...]] = {
    "trace": ("trace",),
    "export": ("export", "open sizes"),
    "migration": ("trace", "export", "open sizes"),
}

ATTEMPT_HEAD = ("attempt", "device", "mode", "pass", "result", "parity", "speed against eager")

SUBMODULE_HEAD = ("submodule", "type", "calls", "share of time", "script", "trace", "speed against eager")


class Cell(NamedTuple):
    """A text and what it says of the matter."""

    text: str
    tone: Tone = "plain"


def verdict_head(report: Report) -> tuple[str, ...]:
    """The titles of the verdicts' columns."""
    return ("target", "script", *_BY_PURPOSE[report.purpose], "mode")


def verdict_row(target: TargetReport, purpose: Purpose = "trace") -> list[Cell]:
    """A target's verdicts, with the number of findings that each rests on; one that an attempt refuted as such."""
    cells = [
        Cell(target.target),
        _verdict(target.script.verdict, target.script.findings, target.script.confirmed),
    ]
    if "trace" in _BY_PURPOSE[purpose]:
        cells.append(_verdict(target.trace.verdict, target.trace.findings, target.trace.confirmed))
    if "export" in _BY_PURPOSE[purpose]:
        cells.append(_verdict(target.export.verdict, target.export.findings, target.export.confirmed))
        cells.append(_verdict(target.export.dynamic, (), target.export.dynamic_confirmed))
    return [*cells, _verdict(target.mode.verdict, target.mode.findings, None)]


def _verdict(verdict: str, findings: Sequence[int], confirmed: bool | None) -> Cell:
    if confirmed is False:
        return Cell(f"{verdict}, refuted", "bad")
    number = f" ({len(findings)})" if findings else ""
    return Cell(f"{verdict}{number}", _TONES.get(verdict, "plain"))


def attempt_row(attempt: Attempt) -> list[Cell]:
    """An attempt: where it ran, what became of it, whether it agrees with eager, how fast it is."""
    return [
        Cell(attempt.backend),
        Cell(f"{attempt.device}, {attempt.dtype}" if attempt.dtype else attempt.device),
        Cell(attempt.mode),
        Cell(attempt.passes),
        Cell(attempt.status, _TONES.get(attempt.status, "plain")),
        _parity(attempt),
        speedup_cell(attempt.speedup),
    ]


def submodule_row(part: Submodule) -> list[Cell]:
    """A submodule: its share of eager's time, and what became of it on its own."""
    return [
        Cell(part.path or "(the whole)"),
        Cell(part.type, "faint"),
        Cell(str(part.calls)),
        Cell("" if part.share is None else f"{part.share:.0%}"),
        Cell(part.script, _TONES.get(part.script, "plain")),
        Cell(part.trace, _TONES.get(part.trace, "plain")),
        speedup_cell(part.speedup),
    ]


def part_reasons(part: Submodule) -> list[str]:
    """Why a submodule does not work by itself, or has no speed; a line each."""
    name = part.path or "(the whole)"
    told = []
    if part.error is not None:
        backend = "script" if part.script in ("failed", "diverged") else "trace"
        told.append(f"{name}: {backend}: {said(part.error)}")
    if part.trace_error is not None:
        told.append(f"{name}: trace: {said(part.trace_error)}")
    if part.note is not None:
        told.append(f"{name}: {part.note}")
    return told


def chosen(breakdown: Breakdown) -> str:
    """The submodules worth scripting and what scripting exactly those brought, or why there are none."""
    if not breakdown.chosen:
        return breakdown.note or ""
    measured = f": {speedup_cell(breakdown.speedup).text}" if breakdown.speedup else ""
    differs = ", but the result differs from eager" if breakdown.equal is False else ""
    return f"with {', '.join(breakdown.chosen)} scripted{measured}{differs}"


def speedup_cell(speedup: Speedup | None) -> Cell:
    """A ratio with its interval and what may be concluded from it."""
    if speedup is None:
        return Cell("")
    from tsguard.answer.speed import ratio

    text = f"{ratio(speedup)} {speedup.conclusion}"
    return Cell(text, _TONES.get(speedup.conclusion, "plain"))


_SHORTENED = "with  and 99 more --input (guessed; --verbose shows all)"


def made(target: TargetReport) -> str:
    """How a target was constructed and called; "" where it was not."""
    parts = [part for part in (target.constructor, target.inputs) if part]
    guessed = " (guessed)" if target.guessed else ""
    return f"with {' '.join(parts)}{guessed}" if parts else ""


def made_in_short(target: TargetReport, longest: int) -> str:
    """The same, with as many whole inputs as there is room for, and how many there are besides."""
    whole = made(target)
    if len(whole) <= longest:
        return whole
    constructor = target.constructor or ""
    if len(constructor) > longest // 2:
        constructor = f"{constructor.partition('(')[0]}(...)"
    options = re.split(r" (?=--input )", target.inputs) if target.inputs else []
    room, kept = longest - len(constructor) - len(_SHORTENED), 0
    while kept < len(options) and len(options[kept]) < room:
        room -= len(options[kept]) + 1
        kept += 1
    left = len(options) - kept
    more = [f"and {left}{' more' if kept else ''} --input"] if left else []
    guessed = "guessed; " if target.guessed else ""
    parts = [part for part in (constructor, *options[:kept], *more) if part]
    return f"with {' '.join(parts)} ({guessed}--verbose shows all)"


def why(attempt: Attempt) -> str:
    """What torch said of a failed attempt, or in what a diverged one differs, in a line; "" otherwise."""
    if attempt.error is not None:
        return said(attempt.error)
    if attempt.parity is not None and not attempt.parity.ok:
        unequal = [
            f"{v.name}{f' ({v.note})' if v.note else ''}" for v in attempt.parity.variants if not v.equal
        ]
        return f"differs from eager on {', '.join(unequal)}" if unequal else ""
    return "; ".join(filter(None, (breaks(attempt), attempt.note)))


def breaks(attempt: Attempt) -> str:
    """Where torch.compile leaves the graph, the first place and how many there are; "" for nowhere."""
    if not attempt.breaks:
        return ""
    first, *others = attempt.breaks
    place = f"{first.path}:{first.line}: " if first.path else ""
    more = f", and {len(others)} more" if others else ""
    return f"no fullgraph=True, the graph breaks: {place}{first.message}{more}"


def said(error: AttemptError) -> str:
    """An error in a line: its place, its type and the first line of its message."""
    place = f"{error.path}:{error.line}: " if error.path else ""
    first = next((line.strip() for line in error.message.splitlines() if line.strip()), "")
    return place + ": ".join(filter(None, (error.type, first.rstrip(":"))))


def worth_a_row(report: Report, verbose: bool) -> list[TargetReport]:
    """The targets to show: all of a few; of many, those that somebody should look at."""
    if verbose or len(report.targets) <= 20:
        return list(report.targets)
    fine = ("ok", "safe", "exports", "unknown")
    return [
        target
        for target in report.targets
        if target.attempts
        or any(j.verdict not in fine for j in target.judgements(report.purpose) if j is not target.mode)
    ]


def by_release(target: TargetReport) -> Iterator[str]:
    """How the verdicts differ from torch release to release, a line for each family in which they do."""
    for family in ("script", "trace", "mode", "export"):
        told = [(each.release, getattr(each, family)) for each in target.releases]
        changes = [new for old, new in itertools.pairwise(told) if new[1] != old[1]]
        if changes:
            first = f"{told[0][1]} before torch {changes[0][0]}"
            yield f"{family} is {', '.join([first, *(f'{word} from {release}' for release, word in changes)])}"


def sentence(finding: Finding) -> str:
    """A finding's message and the condition under which it holds."""
    return f"{finding.message} ({finding.condition})" if finding.when else finding.message


def together(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Findings in their order, those of one rule at one place as one group."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        end = (finding.end_line, finding.end_column)
        key = (finding.place, *end, finding.code, finding.severity, finding.when, finding.chain)
        groups.setdefault(key, []).append(finding)
    return list(groups.values())


def cut(text: str, longest: int) -> str:
    """A text that is cut at a word where it is too long."""
    if len(text) <= longest:
        return text
    head = text[: longest - 4]
    return f"{head.rpartition(' ')[0] or head} ..."


def widths(rows: Iterable[Sequence[Cell]]) -> list[int]:
    """The width of each column."""
    return [max(len(cell.text) for cell in column) for column in zip(*rows, strict=True)]


def _parity(attempt: Attempt) -> Cell:
    parity = attempt.parity
    if parity is None:
        return Cell("")
    if not parity.ok:
        return Cell("differs", "bad")
    return Cell(f"equal on {len(parity.variants)} inputs" if len(parity.variants) > 1 else "equal", "good")
