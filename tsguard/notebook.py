"""``%load_ext tsguard``: cells of a notebook linted, with the report shown as HTML."""

from __future__ import annotations

import ast
import contextlib
import shlex
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
        lines += [f"error: {error.message}" for error in self.report.errors]
        return "\n".join(lines) or "no findings"


def _row(target: TargetReport) -> str:
    verdicts = (target.script.verdict, target.trace.verdict, target.mode.verdict)
    return f"<tr><td>{escape(target.qualname)}</td>{''.join(f'<td>{word}</td>' for word in verdicts)}</tr>"


def load_ipython_extension(shell: Any) -> None:
    """Register ``%tsguard`` and ``%%tsguard``."""

    def tsguard(line: str, cell: str | None = None) -> Shown | None:
        """%tsguard FILE... lints files; %%tsguard lints a cell and runs it (--no-run: only lints it)."""
        from IPython.core.error import UsageError
        from IPython.display import display

        words = shlex.split(line)
        known = {"--no-run"} if cell is not None else set()
        unknown = [word for word in words if (word.startswith("-") or cell is not None) and word not in known]
        if unknown:
            raise UsageError(f"tsguard takes no {unknown[0]} here")
        if cell is None:
            settings = _settings()
            report, sources = lint(plan([parse(path, settings) for path in words], settings), settings)
            return Shown(report, sources)
        show: Any = display
        show(_of_cell(shell, cell))
        result = shell.run_cell(cell, store_history=False) if "--no-run" not in words else None
        if result is not None and not result.success:
            # What it raised is shown already; whoever runs all cells has to stop here.
            raise UsageError(
                f"the cell ends in {type(result.error_in_exec or result.error_before_exec).__name__}"
            )
        return None

    shell.register_magic_function(tsguard, "line_cell", "tsguard")


def _of_cell(shell: Any, cell: str) -> Shown:
    """The report on a cell, read after the cells that ran before it; only what lies in it is told."""
    earlier = [_without_magic(shell, text) for text in shell.user_ns.get("In", [])[:-1]]
    earlier = [text for text in earlier if _is_python(text)]
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


# Cell magics that run the cell as it is.
_RUNNING = frozenset({"capture", "time", "tsguard"})


def _without_magic(shell: Any, text: str) -> str:
    """The code of a cell that ran under a magic, as IPython keeps it: ``get_ipython().run_cell_magic(...)``."""
    try:
        body = ast.parse(text).body
        call = body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr) else None
        is_magic = isinstance(call, ast.Call) and ast.unparse(call.func) == "get_ipython().run_cell_magic"
        name, line, cell = (
            map(ast.literal_eval, call.args) if is_magic and isinstance(call, ast.Call) else ("", "", "")
        )
    except (SyntaxError, ValueError, TypeError):
        return text
    if name not in _RUNNING:
        return text
    return "" if "--no-run" in line else str(shell.transform_cell(cell))


def _is_python(text: str) -> bool:
    with contextlib.suppress(SyntaxError, ValueError):
        compile(text, "<cell>", "exec")
        return True
    return False


def _settings() -> Settings:
    return load(find([Path.cwd()]))
