"""One HTML file that holds everything: no scripts, no other files, light and dark."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import groupby
from pathlib import Path

from tsguard.formats import View, loaders
from tsguard.formats.tables import (
    ATTEMPT_HEAD,
    SUBMODULE_HEAD,
    Cell,
    attempt_row,
    chosen,
    part_reasons,
    said,
    said_by_torch,
    sentence,
    submodule_row,
    verdict_head,
    verdict_row,
    why,
)
from tsguard.report import (
    Attempt,
    Breakdown,
    Finding,
    LoaderReport,
    Report,
    Speedup,
    TargetReport,
    Throughput,
)
from tsguard.rules import UnknownRule, rule, split_page

_CONTEXT = 2
_LONGEST_LINE = 400


def render(report: Report, view: View) -> str:
    """Verdicts first, then findings by file, attempts by target, and the pages of the rules broken."""
    body = "\n".join(
        part
        for parts in (
            _header(report),
            _verdicts(report),
            _attempts(report),
            _loaders(report),
            _findings(report, view),
            _pages(report),
        )
        for part in parts
    )
    style = Path(__file__).with_name("report.css").read_text(encoding="utf-8")
    environment = " · ".join(f"{escape(name)} {escape(value)}" for name, value in report.environment)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>tsguard report</title>\n<style>\n{style}</style>\n</head>\n<body>\n{body}\n"
        f"<footer>tsguard {escape(report.tsguard_version)} · tables of torch {escape(report.torch_tables)}"
        f"{' · ' if environment else ''}{environment}</footer>\n</body>\n</html>\n"
    )


def _header(report: Report) -> Iterator[str]:
    counts = report.summary()
    yield "<h1>tsguard report</h1>"
    words = {"error": "error", "warning": "warning", "info": "note", "targets": "target", "files": "file"}
    told = [
        f"<b>{counts[name]}</b> {word}{'' if counts[name] == 1 else 's'}"
        for name, word in words.items()
        if counts[name]
    ]
    yield f'<p class="counts">{" · ".join(told)}</p>'
    for error in report.errors:
        yield f'<p class="problem">{escape(error.message)}</p>'


def _verdicts(report: Report) -> Iterator[str]:
    if report.targets:
        yield "<h2>Verdicts</h2>"
        yield from _table(verdict_head(report), (_cells(verdict_row(target)) for target in report.targets))


def _attempts(report: Report) -> Iterator[str]:
    tried = [target for target in report.targets if target.attempts or target.recommendation]
    if tried:
        yield "<h2>Attempts</h2>"
    for target in tried:
        yield f"<h3><code>{escape(target.target)}</code></h3>"
        yield from _made(target)
        if target.attempts:
            yield from _table((*ATTEMPT_HEAD, ""), (row for a in target.attempts for row in _attempt(a)))
        if target.breakdown is not None:
            yield from _breakdown(target.breakdown)
        if target.recommendation:
            yield f"<p><b>Recommendation:</b> {escape(target.recommendation)}</p>"


def _loaders(report: Report) -> Iterator[str]:
    if report.loaders:
        yield "<h2>DataLoaders</h2>"
    for loader in report.loaders:
        yield f"<h3><code>{escape(loader.target)}</code></h3>"
        if loader.dataset:
            yield f'<p class="about">{escape(loaders.about(loader))}<br>{escape(loaders.cost_line(loader))}</p>'
        yield from loaders.plot(loader)
        if loader.throughput:
            yield from _table(
                (*loaders.THROUGHPUT_HEAD, ""), (_throughput(row, loader) for row in loader.throughput)
            )
        if loader.collating:
            yield from _table((*loaders.COLLATE_HEAD, ""), map(_collate, loader.collating))
        yield from (f"<p>{escape(note)}</p>" for note in loader.notes)
        if loader.error is not None:
            yield f'<p class="problem">stopped at {escape(loader.step or "")}: {escape(said(loader.error))}</p>'
        if loader.recommendation:
            yield f"<p><b>Recommendation:</b> {escape(loader.recommendation)}</p>"


def _throughput(row: Throughput, loader: LoaderReport) -> str:
    told = said(row.error) if row.error is not None else ""
    return f'{_cells(loaders.throughput_row(row, loader))}<td class="faint">{escape(told)}</td>'


def _collate(attempt: Attempt) -> str:
    return f'{_cells(loaders.collate_row(attempt))}<td class="faint">{escape(why(attempt))}</td>'


def _made(target: TargetReport) -> Iterator[str]:
    given = [part for part in (target.constructor, target.inputs) if part]
    if given:
        yield f'<p class="about">{"guessed" if target.guessed else "given"}: <code>{escape(" ".join(given))}</code></p>'


def _findings(report: Report, view: View) -> Iterator[str]:
    yield "<h2>Findings</h2>"
    if not report.findings:
        yield "<p>None.</p>"
    for path, found in groupby(report.findings, key=lambda finding: finding.path):
        yield f"<h3><code>{escape(path)}</code></h3>"
        for finding in found:
            yield from _finding(finding, view)


def _finding(finding: Finding, view: View) -> Iterator[str]:
    yield f'<div class="finding {finding.severity}" id="finding-{finding.id}">'
    yield f'<p><a class="code" href="#{finding.code}">{finding.code}</a> {escape(sentence(finding))}</p>'
    yield f'<p class="path">{escape(finding.place)}</p>'
    yield from _excerpt(finding, view)
    if len(finding.chain) > 1:
        yield f'<p class="about">reached: <code>{escape(" → ".join(finding.chain))}</code></p>'
    if finding.help:
        yield f"<p>{escape(finding.help)}</p>"
    if said := said_by_torch(finding):
        yield f'<p class="about">torch {said}</p>'
    yield "</div>"


def _excerpt(finding: Finding, view: View) -> Iterator[str]:
    above = view.sources.lines_above(finding.path, finding.cell)
    lines = view.sources.file(finding.path).lines[above:]
    if not lines[finding.line - 1 : finding.line]:
        return
    first, last = max(finding.line - _CONTEXT, 1), min(finding.line + _CONTEXT, len(lines))
    while last > finding.line and not lines[last - 1].strip():
        last -= 1
    shown = []
    for number in range(first, last + 1):
        text = lines[number - 1]
        code = _marked(text, finding) if number == finding.line else _code(text[:_LONGEST_LINE])
        shown.append(f'<span class="number">{number}</span>{code}')
    yield f"<pre>{chr(10).join(shown)}</pre>"


def _marked(text: str, finding: Finding) -> str:
    start = finding.column - 1
    end = finding.end_column - 1 if finding.end_line == finding.line else len(text)
    cut = max(0, start - _LONGEST_LINE // 2)
    end = min(max(end, start + 1), start + _LONGEST_LINE)
    parts = (text[cut:start], text[start:end], text[end : end + _LONGEST_LINE])
    before, marked, after = map(_code, parts)
    return f"{before}<mark>{marked}</mark>{after}"


def _code(text: str) -> str:
    return escape(text.replace("\t", "    "))


def _pages(report: Report) -> Iterator[str]:
    codes = sorted({finding.code for finding in report.findings})
    if codes:
        yield "<h2>Rules</h2>"
    for code in codes:
        try:
            page = rule(code)
        except UnknownRule:
            continue
        from markdown_it import MarkdownIt

        _, body = split_page(page.page.read_text(encoding="utf-8"))
        yield f'<details id="{code}"><summary>{code} {page.name}</summary>'
        yield MarkdownIt().render(body)
        yield "</details>"


def _interval(speedup: Speedup | None) -> str:
    """A drawing of a ratio's interval between half and twice eager's speed, with a line at equal."""
    if speedup is None:
        return ""
    low, median, high = (_place(ratio) for ratio in (speedup.low, speedup.median, speedup.high))
    return (
        f'<svg class="interval {speedup.conclusion.split()[0]}" viewBox="-4 0 108 12" role="img">'
        "<title>half to twice the speed of eager; the line is equal</title>"
        '<path d="M0 6H100M50 0V12"/>'
        f'<rect x="{low:.1f}" y="4.5" width="{max(high - low, 0.8):.1f}" height="3"/>'
        f'<circle cx="{median:.1f}" cy="6" r="3"/></svg>'
    )


def _place(ratio: float) -> float:
    return 50 + 50 * min(max(math.log2(ratio), -1), 1) if ratio > 0 else 0


def _attempt(attempt: Attempt) -> Iterator[str]:
    yield f"{_cells(attempt_row(attempt))}<td>{_interval(attempt.speedup)}</td>"
    if why(attempt):
        yield f'<td class="why" colspan="{len(ATTEMPT_HEAD) + 1}">{escape(why(attempt))}</td>'


def _breakdown(breakdown: Breakdown) -> Iterator[str]:
    rows = (
        f"{_cells(submodule_row(part))}<td>{_interval(part.speedup)}</td>" for part in breakdown.submodules
    )
    yield from _table((*SUBMODULE_HEAD, ""), rows)
    for part in breakdown.submodules:
        yield from (f"<p>{escape(line)}</p>" for line in part_reasons(part))
    if chosen(breakdown):
        yield f"<p>{escape(chosen(breakdown))}</p>"


def _cells(row: Sequence[Cell]) -> str:
    name, *others = row
    cells = "".join(f'<td class="{cell.tone}">{escape(cell.text)}</td>' for cell in others)
    return f'<td class="name">{escape(name.text)}</td>{cells}'


def _table(head: Sequence[str], rows: Iterable[str]) -> Iterator[str]:
    yield '<div class="scroll"><table>'
    yield f"<tr>{''.join(f'<th>{escape(title)}</th>' for title in head)}</tr>"
    yield from (f"<tr>{row}</tr>" for row in rows)
    yield "</table></div>"
