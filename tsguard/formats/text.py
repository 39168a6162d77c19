"""The report for a person at a terminal."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterator, Sequence

import click

from tsguard.formats import View
from tsguard.formats.packages import Shown, folded
from tsguard.formats.tables import (
    ATTEMPT_HEAD,
    SUBMODULE_HEAD,
    Cell,
    attempt_row,
    by_release,
    chosen,
    cut,
    made,
    made_in_short,
    part_reasons,
    said,
    said_by_torch,
    submodule_row,
    together,
    verdict_head,
    verdict_row,
    why,
    widths,
    worth_a_row,
)
from tsguard.report import Breakdown, Finding, LoaderReport, Report, TargetReport
from tsguard.rules.links import linked

_SEVERITY_COLORS = {"error": "red", "warning": "yellow", "info": "cyan"}
_TONE_COLORS = {"good": "green", "bad": "red", "doubtful": "yellow"}
# A generated file may be one line of megabytes: more of a line than this is not shown.
_LONGEST_LINE = 160
# Of the causes of a whole tree of files, those beyond are many of a kind.
_MOST_CAUSES = 20


def render(report: Report, view: View) -> str:
    """Each finding with its code, then the verdicts, attempts and recommendation of each target."""
    lines = [line for shown in folded(report, view.verbose) for line in _shown(shown, view)]
    if not view.quiet:
        lines += _targets(report, view)
        lines += _causes(report, view)
        lines += _environment(report)
        lines += _releases(report) if view.verbose else ()
        lines += [line for loader in report.loaders for line in _loader(loader, view)]
    text = "".join(f"{line}\n" for line in lines)
    return text if view.color else click.unstyle(text)


def _shown(shown: Shown, view: View) -> Iterator[str]:
    for group in together(shown.findings):
        yield from (*_finding(group, view), "")
    if shown.more:
        several = "findings" if shown.more > 1 else "finding"
        number = f"and {shown.more} more" if shown.findings else f"{shown.more} {several}"
        told = f"{number} inside {printable(shown.package)} (--verbose lists them)"
        yield from (click.style(told, dim=True), "")


def _finding(group: Sequence[Finding], view: View) -> Iterator[str]:
    """What a rule says of a place, once however many things it says."""
    finding, *others = group
    color = _SEVERITY_COLORS[finding.severity]
    shown = linked(finding.code) if view.links else finding.code
    code = click.style(f"{finding.severity}[{shown}]", fg=color, bold=True)
    mark = click.style(view.mark(finding), fg="cyan")
    yield f"{code} {mark}{click.style(one_line(finding.message), bold=True)}"
    gutter = " " * len(str(finding.line + 1))
    yield f"{gutter}{_frame('-->')} {finding.place}"
    yield from _excerpt(finding, view, gutter, color)
    also = [("also", other.message) for other in others]
    helps = [("help", other.help) for other in others if other.help and other.help != finding.help]
    for label, text in (*also, *_notes(finding), *helps):
        yield f"{gutter} {_frame('=')} {click.style(label, bold=True)}: {one_line(text)}"


def _notes(finding: Finding) -> Iterator[tuple[str, str]]:
    if finding.when:
        word, _, rest = finding.condition.partition(" ")
        yield word, rest
    if len(finding.chain) > 1:
        yield "reached", " -> ".join(finding.way)
    if finding.help:
        yield "help", finding.help
    if said := said_by_torch(finding):
        yield "torch", said


def _excerpt(finding: Finding, view: View, gutter: str, color: str) -> Iterator[str]:
    line = view.sources.line(finding.path, finding.line, finding.cell)
    if not line:
        return
    start = finding.column - 1
    end = finding.end_column - 1 if finding.end_line == finding.line else len(line.rstrip())
    cut = max(0, start - _LONGEST_LINE // 2) if len(line) > _LONGEST_LINE else 0
    code = printable(line[cut : cut + _LONGEST_LINE])
    before, marked = printable(line[cut:start]), printable(line[start : min(end, cut + _LONGEST_LINE)])
    carets = click.style("^" * max(_width(marked), 1), fg=color, bold=True)
    yield f"{gutter} {_frame('|')}"
    yield f"{_frame(f'{finding.line:{len(gutter)}} |')} {code.rstrip()}"
    yield f"{gutter} {_frame('|')} {' ' * _width(before)}{carets}"


def _targets(report: Report, view: View) -> Iterator[str]:
    shown = worth_a_row(report, view.verbose)
    if not shown:
        return
    rows = [
        [Cell(title, "faint") for title in verdict_head(report)],
        *(verdict_row(target, report.purpose) for target in shown),
    ]
    yield from table(rows)
    if len(shown) < len(report.targets):
        yield click.style(f"and {len(report.targets) - len(shown)} more (--verbose shows them)", dim=True)
    yield ""
    for target in shown:
        yield from _details(target, view)


def _details(target: TargetReport, view: View) -> Iterator[str]:
    lines = [*_parted(target), *_attempted(target, view)]
    yield from lines
    if lines:
        yield ""


def _parted(target: TargetReport) -> Iterator[str]:
    for told in by_release(target):
        yield f"{click.style(target.target, bold=True)}: {told}"


def _environment(report: Report) -> Iterator[str]:
    """What speeds were measured on, where there are any."""
    if any(attempt.speedup for target in report.targets for attempt in target.attempts):
        told = ", ".join(f"{name} {value}" for name, value in report.environment)
        yield click.style(f"measured with {printable(told)}", dim=True)
        from tsguard.answer.speed import RULE

        yield click.style(RULE, dim=True)


def _causes(report: Report, view: View) -> Iterator[str]:
    """What keeps verdicts unknown, a line each, and that nothing else is in the way."""
    causes = report.causes()
    shown = causes if view.verbose else causes[:_MOST_CAUSES]
    for cause in shown:
        several = f" ({len(cause.targets)} targets)" if len(cause.targets) > 1 else ""
        remedy = f"; {cause.help}" if cause.help else ""
        yield f"{click.style('unknown', bold=True)}: {cause.place}: {one_line(cause.why + remedy)}{several}"
    if len(shown) < len(causes):
        yield click.style(f"and {len(causes) - len(shown)} more causes (--verbose shows them)", dim=True)
    if any(target.script.verdict == "unknown" for target in report.targets):
        yield click.style(
            "no blocker was found in the code that was read where the script verdict is unknown", dim=True
        )
    if causes:
        yield ""


def _releases(report: Report) -> Iterator[str]:
    if report.torch_told_by:
        several = "s" if "," in report.torch_tables else ""
        told = f"checked for torch {report.torch_tables}, the release{several} of: {report.torch_told_by}"
        yield click.style(printable(told), dim=True)


def _attempted(target: TargetReport, view: View) -> Iterator[str]:
    if target.attempts or target.recommendation:
        given = made(target) if view.verbose else made_in_short(target, _LONGEST_LINE)
        yield f"{click.style(target.target, bold=True)} {printable(given)}".rstrip()
    if target.attempts:
        rows = [[Cell(title, "faint") for title in ATTEMPT_HEAD], *map(attempt_row, target.attempts)]
        for attempt, line in zip((None, *target.attempts), table(rows), strict=True):
            yield f"  {line}"
            if attempt is not None and why(attempt):
                told = why(attempt) if view.verbose else cut(why(attempt), _LONGEST_LINE)
                yield click.style(f"    {printable(told)}", dim=True)
    if target.breakdown is not None:
        yield from _breakdown(target.breakdown)
    if target.recommendation:
        yield from _recommended(target.recommendation, view)


def _recommended(text: str, view: View) -> Iterator[str]:
    """A recommendation in full: what it says last may be what not to do, or the inputs to give."""
    label = "recommendation"
    first, *rest = textwrap.wrap(
        f"{label}: {printable(text)}",
        view.width,
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    yield click.style(label, bold=True) + first.removeprefix(label)
    yield from rest


def _breakdown(breakdown: Breakdown) -> Iterator[str]:
    rows = [[Cell(title, "faint") for title in SUBMODULE_HEAD], *map(submodule_row, breakdown.submodules)]
    yield ""
    yield from (f"  {line}" for line in table(rows))
    for part in breakdown.submodules:
        yield from (f"    {line}" for line in part_reasons(part))
    if chosen(breakdown):
        yield f"  {chosen(breakdown)}"


def _loader(loader: LoaderReport, view: View) -> Iterator[str]:
    from tsguard.formats import loaders

    yield f"{click.style(loader.target, bold=True)}{f': {loaders.about(loader)}' if loader.dataset else ''}"
    if loaders.cost_line(loader):
        yield f"  {loaders.cost_line(loader)}"
    yield from _throughput(loader)
    if loader.collating:
        rows = [
            [Cell(title, "faint") for title in loaders.COLLATE_HEAD],
            *map(loaders.collate_row, loader.collating),
        ]
        yield ""
        for attempt, line in zip((None, *loader.collating), table(rows), strict=True):
            yield f"  {line}"
            if attempt is not None and why(attempt):
                yield click.style(f"    {printable(why(attempt))}", dim=True)
    for note in loader.notes:
        yield f"{click.style('note', bold=True)}: {one_line(note)}"
    if loader.error is not None:
        label = click.style(f"stopped at {loader.step}", fg="red", bold=True)
        yield f"{label}: {printable(said(loader.error))}"
    if loader.recommendation:
        yield from _recommended(loader.recommendation, view)
    yield ""


def _throughput(loader: LoaderReport) -> Iterator[str]:
    from tsguard.formats import loaders

    if not loader.throughput:
        return
    head = [Cell(title, "faint") for title in loaders.THROUGHPUT_HEAD]
    rows = [head, *(loaders.throughput_row(row, loader) for row in loader.throughput)]
    yield ""
    for row, line in zip((None, *loader.throughput), table(rows), strict=True):
        yield f"  {line}"
        if row is not None and row.error is not None:
            yield click.style(f"    {printable(said(row.error))}", dim=True)


def table(rows: Sequence[Sequence[Cell]]) -> Iterator[str]:
    """Rows as lines, each column as wide as its widest cell."""
    columns = widths(rows)
    for row in rows:
        cells = [
            _toned(cell) + " " * (width - len(cell.text)) for cell, width in zip(row, columns, strict=True)
        ]
        yield "  ".join(cells).rstrip()


def _toned(cell: Cell) -> str:
    if cell.tone == "plain" or not cell.text:
        return cell.text
    return click.style(cell.text, fg=_TONE_COLORS.get(cell.tone), dim=cell.tone == "faint" or None)


def _frame(text: str) -> str:
    return click.style(text, fg="blue", bold=True)


def one_line(text: str) -> str:
    """Printable text without line breaks."""
    return printable(" ".join(text.split()))


def printable(text: str) -> str:
    """Text that cannot move the cursor: tabs as four columns, other control characters shown as one."""
    text = text.replace("\t", "    ")
    return text if text.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in text)


def _width(text: str) -> int:
    """The columns that a text takes in a terminal."""
    if text.isascii():
        return len(text)
    kinds = ((unicodedata.east_asian_width(c), unicodedata.combining(c)) for c in text)
    return sum(0 if combining else 2 if kind in "WF" else 1 for kind, combining in kinds)
