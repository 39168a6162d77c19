"""``%load_ext tsguard``: cells of a notebook linted, with the report shown as HTML."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

from tsguard.linting.run import lint
from tsguard.report import Finding, Report, TargetReport
from tsguard.settings.config import Settings, find, load
from tsguard.settings.requests import Job, Plan, parse, plan
from tsguard.source.sources import Sources

_TONES = {"error": "#c62828", "warning": "#b26a00", "info": "#00695c"}


class Shown:
    """A report as a notebook displays it; as text where it shows no HTML.

    Args:
        first: the line of the judged text before which nothing is the cell's own.
    """

    def __init__(self, report: Report, sources: Sources, first: int = 1) -> None:
        self.report = report
        self._sources = sources
        self._first = first

    def _repr_html_(self) -> str:
        """Verdicts, and each finding with its line."""
        rows = "".join(map(_row, self.report.targets))
        head = "".join(f"<th>{name}</th>" for name in ("target", "script", "trace", "mode"))
        table = f"<table><tr>{head}</tr>{rows}</table>" if rows else ""
        findings = "".join(map(self._finding, self.report.findings))
        errors = "".join(f"<p><b>error:</b> {escape(error.message)}</p>" for error in self.report.errors)
        return f"<div>{table}{findings or '<p>no findings</p>'}{errors}</div>"

    def _finding(self, finding: Finding) -> str:
        line = self._sources.line(finding.path, finding.line)
        end = finding.end_column if finding.end_line == finding.line else len(line) + 1
        start = finding.column - 1
        code = f"{escape(line[:start])}<mark>{escape(line[start : end - 1])}</mark>{escape(line[end - 1 :])}"
        help = f"<br><i>{escape(finding.help)}</i>" if finding.help else ""
        return (
            f'<p><b style="color:{_TONES[finding.severity]}">{finding.code}</b> {escape(finding.message)}{help}</p>'
            f"<pre>{finding.line - self._first + 1:4}  {code}</pre>"
        )

    def __repr__(self) -> str:
        lines = [
            f"{t.qualname}: {t.script.verdict}, {t.trace.verdict}, {t.mode.verdict}"
            for t in self.report.targets
        ]
        lines += [f"{f.line - self._first + 1}: {f.code} {f.message}" for f in self.report.findings]
        return "\n".join(lines) or "no findings"


def _row(target: TargetReport) -> str:
    verdicts = (target.script.verdict, target.trace.verdict, target.mode.verdict)
    return f"<tr><td>{escape(target.qualname)}</td>{''.join(f'<td>{word}</td>' for word in verdicts)}</tr>"


def load_ipython_extension(shell: Any) -> None:
    """Register ``%tsguard`` and ``%%tsguard``."""

    def tsguard(line: str, cell: str | None = None) -> Shown | None:
        """%tsguard FILE... lints files; %%tsguard lints a cell and runs it (--no-run: only lints it)."""
        if cell is None:
            settings = _settings()
            report, sources = lint(plan([parse(path, settings) for path in line.split()], settings), settings)
            return Shown(report, sources)
        from IPython.display import display

        show: Any = display
        show(_of_cell(shell, cell))
        if "--no-run" not in line.split():
            shell.run_cell(cell, store_history=False)
        return None

    shell.register_magic_function(tsguard, "line_cell", "tsguard")


def _of_cell(shell: Any, cell: str) -> Shown:
    """The report on a cell, read after the cells that ran before it; only what lies in it is told."""
    earlier = [text for text in shell.user_ns.get("In", [])[:-1] if _is_python(text)]
    before = "".join(f"{text.rstrip()}\n" for text in earlier)
    first = before.count("\n") + 1
    name = "<cell>"
    job = Job(Path("notebook-cell.py").absolute(), name, text=before + shell.transform_cell(cell))
    report, sources = lint(Plan((job,)), _settings())
    report = replace(
        report,
        findings=tuple(f for f in report.findings if f.path == name and f.line >= first),
        targets=tuple(t for t in report.targets if t.line >= first),
    )
    return Shown(report, sources, first)


def _is_python(text: str) -> bool:
    with contextlib.suppress(SyntaxError, ValueError):
        compile(text, "<cell>", "exec")
        return True
    return False


def _settings() -> Settings:
    return load(find([Path.cwd()]))
