"""One HTML file that holds everything: the answers, the targets, what they rest on; no other files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsguard.answer.speed import RULE
from tsguard.formats import View, intervals, loaders
from tsguard.formats.packages import Others
from tsguard.formats.tables import (
    ATTEMPT_HEAD,
    SUBMODULE_HEAD,
    Cell,
    attempt_row,
    chosen,
    made,
    part_reasons,
    said,
    said_by_torch,
    sentence,
    submodule_row,
    together,
    verdict_head,
    verdict_row,
    why,
)
from tsguard.report import Attempt, Breakdown, Finding, LoaderReport, Purpose, Report, Speedup, TargetReport
from tsguard.report.records import dataclass
from tsguard.rules import UnknownRule, rule, split_page

if TYPE_CHECKING:
    from jinja2 import Environment, Template

_CONTEXT = 2
_LONGEST_LINE = 400
_WORDS = {"error": "error", "warning": "warning", "info": "note", "targets": "target", "files": "file"}
# More answers than this stand in the table and with their targets only.
_MOST_ANSWERS = 12


@dataclass(frozen=True, slots=True)
class _Row:
    """Cells, a drawing of an interval in the last, and what stands below them."""

    cells: Sequence[Cell]
    drawing: str = ""
    below: str = ""


@dataclass(frozen=True, slots=True)
class _Target:
    """A target as the page shows it."""

    id: str
    report: TargetReport
    verdicts: Sequence[Cell]
    speed: Cell
    rank: float
    made: str
    attempts: Sequence[_Row]
    breakdown: Sequence[_Row]
    chosen: str
    findings: Sequence[Finding]


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of code with what is marked in it."""

    number: int
    before: str
    marked: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class _File:
    """The findings in a file, those that want something done apart from the notes and from those of ``package``."""

    path: str
    package: str
    wanted: list[list[Finding]] = field(default_factory=list)
    notes: list[list[Finding]] = field(default_factory=list)

    @property
    def folded(self) -> str:
        """What the others are."""
        number, word = len(self.notes), "finding" if self.package else "note"
        inside = f" inside {self.package}" if self.package else ""
        return f"{number} {word}{'s' if number > 1 else ''}{inside}"


def render(report: Report, view: View) -> str:
    """What to do first, then all targets, each target's attempts, findings by file, and the rules broken."""
    scale = intervals.scale(_speedups(report))
    targets = [_target(n, target, report, scale) for n, target in enumerate(report.targets)]
    answered = [t for t in targets if t.report.recommendation]
    folder = Path(__file__).parent
    return _template().render(
        report=report,
        view=view,
        counts=_counts(report),
        tallies=_tallies(report),
        targets=targets,
        answered=answered if len(answered) <= _MOST_ANSWERS else [],
        timed=any(_speedups(report)),
        rule=RULE,
        attempt_head=ATTEMPT_HEAD,
        submodule_head=SUBMODULE_HEAD,
        loaders=[_loader(loader, scale) for loader in report.loaders],
        throughput_head=loaders.THROUGHPUT_HEAD,
        collate_head=loaders.COLLATE_HEAD,
        files=_files(report),
        excerpt=lambda finding: _excerpt(finding, view),
        sentence=sentence,
        unknown=lambda target: _unknown(target, report.purpose),
        verdict_head=list(verdict_head(report)),
        torch=said_by_torch,
        pages=_pages(report),
        style=(folder / "report.css").read_text(encoding="utf-8"),
        script=(folder / "report.js").read_text(encoding="utf-8"),
    )


@cache
def _template() -> Template:
    path = Path(__file__).with_name("report.html.jinja")
    return environment().from_string(path.read_text(encoding="utf-8"))


def environment() -> Environment:
    """How templates of HTML are read: what they are given is escaped."""
    from jinja2 import Environment, StrictUndefined

    return Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined, auto_reload=False
    )


def _counts(report: Report) -> list[tuple[int, str]]:
    counts = report.summary()
    named = [(counts[name], word) for name, word in _WORDS.items() if counts[name]]
    return [(number, word if number == 1 else f"{word}s") for number, word in named]


def _tallies(report: Report) -> list[str]:
    """How many targets have which verdict."""
    counts = report.summary()
    families = [name for name in ("script", "trace", "export", "mode") if name in verdict_head(report)]
    return [
        f"{family}: {', '.join(f'{number} {verdict}' for verdict, number in sorted(counts[family].items()))}"
        for family in families
        if counts[family]
    ]


def _speedups(report: Report) -> list[Speedup]:
    attempts = [a for t in report.targets for a in t.attempts]
    attempts += [a for loader in report.loaders for a in loader.collating]
    parts = [p for t in report.targets if t.breakdown for p in t.breakdown.submodules]
    return [s for s in (*(a.speedup for a in attempts), *(p.speedup for p in parts)) if s is not None]


def _target(number: int, target: TargetReport, report: Report, scale: intervals.Scale) -> _Target:
    best = max((a for a in target.attempts if _is_faster(a)), key=_low, default=None)
    speed = Cell(f"{best.backend} {best.speedup.median:.2f}x", "good") if best and best.speedup else Cell("")
    return _Target(
        f"target-{number}",
        target,
        verdict_row(target, report.purpose)[1:],
        speed,
        best.speedup.median if best and best.speedup else 0.0,
        made(target),
        [_attempt(a, scale) for a in target.attempts],
        _breakdown(target.breakdown, scale) if target.breakdown else [],
        chosen(target.breakdown) if target.breakdown else "",
        [report.findings[i] for judgement in target.judgements(report.purpose) for i in judgement.findings],
    )


def _is_faster(attempt: Attempt) -> bool:
    return attempt.speedup is not None and attempt.speedup.conclusion == "faster"


def _low(attempt: Attempt) -> float:
    return attempt.speedup.low if attempt.speedup is not None else 0.0


def _attempt(attempt: Attempt, scale: intervals.Scale) -> _Row:
    return _Row(attempt_row(attempt), intervals.drawing(attempt.speedup, scale), why(attempt))


def _breakdown(breakdown: Breakdown, scale: intervals.Scale) -> list[_Row]:
    return [
        _Row(
            submodule_row(part),
            intervals.drawing(part.speedup, scale),
            "; ".join(part_reasons(part)),
        )
        for part in breakdown.submodules
    ]


def _loader(loader: LoaderReport, scale: intervals.Scale) -> dict[str, Any]:
    return {
        "report": loader,
        "about": loaders.about(loader) if loader.dataset else "",
        "cost": loaders.cost_line(loader),
        "plot": "".join(loaders.plot(loader)),
        "throughput": [
            _Row(loaders.throughput_row(row, loader), "", said(row.error) if row.error else "")
            for row in loader.throughput
        ],
        "collating": [
            _Row(loaders.collate_row(a), intervals.drawing(a.speedup, scale), why(a))
            for a in loader.collating
        ],
        "error": said(loader.error) if loader.error is not None else "",
    }


def _unknown(target: TargetReport, purpose: Purpose) -> list[str]:
    """Why verdicts are unknown, each reason once."""
    places = [place for judgement in target.judgements(purpose) for place in judgement.unknown]
    return list(dict.fromkeys(f"{place.place}: {place.why}" for place in places))


def _files(report: Report) -> list[_File]:
    files, others = [], Others(report)
    for path, found in groupby(report.findings, key=lambda finding: finding.path):
        file = _File(path, others.package(path))
        for group in together(found):
            folds = file.package or group[0].severity == "info"
            (file.notes if folds else file.wanted).append(group)
        files.append(file)
    return files


def _excerpt(finding: Finding, view: View) -> list[_Line]:
    above = view.sources.lines_above(finding.path, finding.cell)
    lines = view.sources.file(finding.path).lines[above:]
    if not lines[finding.line - 1 : finding.line]:
        return []
    first, last = max(finding.line - _CONTEXT, 1), min(finding.line + _CONTEXT, len(lines))
    while last > finding.line and not lines[last - 1].strip():
        last -= 1
    return [
        _marked(number, lines[number - 1], finding)
        if number == finding.line
        else _Line(number, _code(lines[number - 1][:_LONGEST_LINE]))
        for number in range(first, last + 1)
    ]


def _marked(number: int, text: str, finding: Finding) -> _Line:
    start = finding.column - 1
    end = finding.end_column - 1 if finding.end_line == finding.line else len(text)
    cut = max(0, start - _LONGEST_LINE // 2)
    end = min(max(end, start + 1), start + _LONGEST_LINE)
    return _Line(number, *map(_code, (text[cut:start], text[start:end], text[end : end + _LONGEST_LINE])))


def _code(text: str) -> str:
    return text.replace("\t", "    ")


def _pages(report: Report) -> Iterable[tuple[str, str, str]]:
    """Code, name and page, as HTML, of each rule that is broken."""
    from markdown_it import MarkdownIt

    for code in sorted({finding.code for finding in report.findings}):
        try:
            page = rule(code)
        except UnknownRule:
            continue
        _, body = split_page(page.page.read_text(encoding="utf-8"))
        yield code, page.name, MarkdownIt().render(body)
