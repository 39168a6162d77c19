"""What torch makes of a line, in Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tsguard.analysis.observer import Observer
from tsguard.analysis.python import Program
from tsguard.editors.lenses import verdicts
from tsguard.editors.reading import Reading
from tsguard.formats.tables import sentence
from tsguard.incremental import Judge
from tsguard.inspection.deep_stack import on_deep_stack
from tsguard.judges import judge
from tsguard.project.targets import targets_of
from tsguard.report import Finding
from tsguard.rules import rule


def hover(reading: Reading, judge: Judge, line: int) -> str:
    """The findings on a line, the types of its names in compiled code and what a trace makes of them; "" for nothing."""
    found = [finding for finding in reading.findings if finding.line <= line <= finding.end_line]
    heads = [t for t in reading.report.targets if t.line == line and t.path == str(reading.path)]
    observer = on_deep_stack(lambda: _observed(reading, judge, line))
    parts = [
        *(f"**{target.qualname}** {verdicts(target)}" for target in heads),
        *_names("In compiled code", observer.types if observer is not None else {}),
        *_names("In a trace", observer.fates if observer is not None else {}),
        *_modes(found),
        *(_told(finding) for finding in found),
    ]
    return "\n\n".join(parts)


def _observed(reading: Reading, kept: Judge, line: int) -> Observer | None:
    """The line as the walks meet it, judged for all targets that lead there."""
    # What is compiled already is not compiled again: the program is another, the trees are the same.
    program = Program(kept.program.project, kept.program.tables.release, kept.program.open_sizes)
    module = program.project.module(reading.path)
    if module.file.text != reading.text or module.file.broken is not None:
        return None
    program.observer = Observer(module, line)
    around = [target for target in targets_of(program.project, module) if target.line <= line]
    inside = [t for t in around if line <= (t.node.end_lineno or t.line)]
    for target in inside or around:
        try:
            judge(program, replace(target, spec=target.qualname), reading.settings.purpose)
        except Exception:  # the report of the file tells of it
            continue
    return program.observer


def _names(title: str, found: dict[str, list[str]]) -> Iterator[str]:
    told = [f"`{name}`: {' or '.join(texts)}" for name, texts in found.items() if texts]
    if told:
        yield f"{title}: {', '.join(told)}"


def _modes(found: list[Finding]) -> Iterator[str]:
    if any(finding.family == "mode" for finding in found):
        yield "Mode-dependent: `train()` and `eval()` differ here"


def _told(finding: Finding) -> str:
    page = rule(finding.code)
    help = f" *{finding.help}*" if finding.help else ""
    return f"**{finding.code}** {sentence(finding)}.{help} [{page.name}]({page.page.absolute().as_uri()})"
