"""The way to torch.export for a person at a terminal, and the cells of its tables for all who read."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

import click

from tsguard.answer.words import named
from tsguard.formats import View
from tsguard.formats.tables import Cell, tone
from tsguard.formats.text import one_line, printable, table
from tsguard.migration.way import is_unread
from tsguard.report import Finding, Report, TargetReport
from tsguard.report.migration import Migration, Step
from tsguard.rules import rule

_OPEN = "open sizes"
HEAD = ("", "target", "script", "trace", "export", _OPEN, "compile")
_FINE = ("ok", "safe", "exports")
_MOST_PLACES = 5
_MOST_OBSTACLES = 20


def render(report: Report, view: View) -> str:
    """The targets in the order to go, what is in the way of each, what is lost, and the uses of torch.jit."""
    migration = report.migration or Migration()
    lines = list(_unread(report, view))
    if migration.steps:
        rows = [[Cell(title, "faint") for title in HEAD]]
        rows += [step_row(number, step, report) for number, step in enumerate(migration.steps, 1)]
        lines += [*table(rows), ""]
    for step, target in stepped(report):
        lines += _of_target(step, target, report, view)
    lines += _obstacles(report, view)
    lines += _uses(report, view)
    text = "".join(f"{line}\n" for line in lines)
    return text if view.color else click.unstyle(text)


def stepped(report: Report) -> Iterator[tuple[Step, TargetReport]]:
    """The steps with their targets, in order."""
    by_name = {target.target: target for target in report.targets}
    for step in report.migration.steps if report.migration else ():
        yield step, by_name[step.target]


def step_row(number: int, step: Step, report: Report) -> list[Cell]:
    """A target's number on the way, its verdicts, and on how many findings those of script and export rest."""
    script, trace = next(
        ((t.script, t.trace) for t in report.targets if t.target == step.target), (None, None)
    )
    is_open = [_way_of(report.findings[number]) == _OPEN for number in step.blockers]
    counted = (
        (step.script, len(script.findings) if script else 0),
        (step.trace, len(trace.findings) if trace else 0),
        (step.export, is_open.count(False) if step.export != "exports" else 0),
        (step.dynamic, is_open.count(True) if step.dynamic != "exports" else 0),
        (step.compile, 0),
    )
    cells = [Cell(f"{word} ({count})" if count else word, tone(word)) for word, count in counted]
    return [Cell(str(number), "faint"), Cell(step.target), *cells]


def reasons(step: Step, target: TargetReport, report: Report) -> Iterator[tuple[str, str]]:
    """What blocks each way, and what is lost on the way to export: a word and a sentence each."""
    for way, judgement in (("script", target.script), ("trace", target.trace)):
        if judgement.verdict not in _FINE and judgement.findings:
            found = [report.findings[number] for number in judgement.findings]
            yield way, named([f for f in found if f.severity != "info"] or found)
    kept = "; torch.jit.script takes it as it is" if step.script == "ok" else ""
    for number in step.blockers:
        yield _way_of(report.findings[number]), _with_help(report.findings[number]) + kept
    if step.export != "refused" and target.export.fixed:
        held = ", ".join(f"dimension {fixed.dimension} of {fixed.input}" for fixed in target.export.fixed)
        yield _OPEN, f"an exported program specialises {held} to the example's size"
    yield from (("unknown", f"{place.place}: {place.why}") for place in target.export.unknown)
    for number in step.lost:
        yield "lost", _with_help(report.findings[number])


def _way_of(finding: Finding) -> str:
    """The column of the table that a finding on torch.export is about."""
    return _OPEN if rule(finding.name).is_of_open_shapes else "export"


def _line_of(finding: Finding) -> str:
    return finding.place.rpartition(":")[0]


def _with_help(finding: Finding) -> str:
    repair = f"; {finding.help}" if finding.help else ""
    return f"{_line_of(finding)}: {finding.message} ({finding.code}){repair}"


def _of_target(step: Step, target: TargetReport, report: Report, view: View) -> Iterator[str]:
    told = list(dict.fromkeys(reasons(step, target, report)))
    if not told:
        return
    yield click.style(step.target, bold=True)
    for word, text in told:
        yield from _wrapped(word, text, view)
    yield ""


def _wrapped(word: str, text: str, view: View) -> Iterator[str]:
    """A word, and a text beside it, wrapped at words."""
    label = f"  {word:<10}  "
    first, *rest = textwrap.wrap(
        label + one_line(text),
        view.width,
        subsequent_indent=" " * len(label),
        break_long_words=False,
        break_on_hyphens=False,
    )
    yield click.style(label, dim=True) + first.removeprefix(label)
    yield from rest


def _obstacles(report: Report, view: View) -> Iterator[str]:
    """What several targets meet; what only one meets stands with that."""
    obstacles = [report.findings[n] for n in report.migration.obstacles] if report.migration else []
    common = [f for f in obstacles if len(f.targets) > 1]
    shown = common if view.verbose else common[:_MOST_OBSTACLES]
    if shown:
        yield click.style("what prevents several targets, the most common first", bold=True)
        for finding in shown:
            yield from _wrapped(f"{len(finding.targets)} targets", _with_help(finding), view)
        if len(shown) < len(common):
            yield click.style(f"  and {len(common) - len(shown)} more (--verbose shows them)", dim=True)
        yield ""


def unread(report: Report) -> list[str]:
    """What could not be read or judged, and is not in the plan."""
    return [f"{f.place}: {one_line(f.message)} ({f.code})" for f in report.findings if is_unread(f)]


def _unread(report: Report, view: View) -> Iterator[str]:
    found = unread(report)
    if found:
        yield click.style("not read", bold=True)
        for text in found:
            yield from (f"  {line}" for line in textwrap.wrap(printable(text), view.width - 2))
        yield ""


def _uses(report: Report, view: View) -> Iterator[str]:
    uses = report.migration.uses if report.migration else ()
    if not uses:
        return
    yield click.style("uses of torch.jit, and their replacements", bold=True)
    for use in uses:
        places = [_line_of(report.findings[number]) for number in use.findings]
        yield f"  {len(places):>4}  {printable(use.name)}"
        yield from (f"        {line}" for line in textwrap.wrap(one_line(use.successor), view.width - 8))
        told = places if view.verbose else places[:_MOST_PLACES]
        more = f" and {len(places) - len(told)} more" if len(told) < len(places) else ""
        yield from (
            click.style(f"        {line}", dim=True)
            for line in textwrap.wrap(printable(", ".join(told) + more), view.width - 8)
        )
    yield ""


def summary(report: Report) -> str:
    """How far the way is, in a line."""
    steps: Sequence[Step] = report.migration.steps if report.migration else ()
    exports = sum(step.export == "exports" for step in steps)
    unknown = sum(step.export == "unknown" for step in steps)
    uses = sum(len(use.findings) for use in report.migration.uses) if report.migration else 0
    lost = len({number for step in steps for number in step.lost})
    told = f"{exports} of {_count(len(steps), 'target')} export{'s' if exports == 1 else ''}"
    told += f", {unknown} with an unknown verdict" if unknown else ""
    return f"{told}; {_count(lost, 'thing')} lost, {_count(uses, 'use')} of torch.jit"


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
