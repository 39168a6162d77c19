"""A table of attempts for the summary page of a GitHub Actions step."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from tsguard.report import Attempt, Report
from tsguard.runtime.shown import place, ratio

_MARKS = {"ok": "✅", "skipped": "-"}


def write_step_summary(report: Report) -> None:
    """Append the attempts to the file that GitHub Actions shows; nothing outside of it."""
    file = os.environ.get("GITHUB_STEP_SUMMARY")
    lines = list(_table(report))
    if file and lines:
        with Path(file).open("a", encoding="utf-8") as summary:
            summary.write("\n".join(lines) + "\n")


def _table(report: Report) -> Iterator[str]:
    rows = [(target, attempt) for target in report.targets for attempt in target.attempts]
    if not rows:
        return
    yield "## tsguard check\n"
    yield "| target | attempt | outcome | speedup [95% interval] |"
    yield "| --- | --- | --- | --- |"
    for target, attempt in rows:
        if attempt.backend != "eager":
            mark = _MARKS.get(attempt.status, "❌")
            yield f"| `{target.target}` | {attempt.backend}, {place(attempt)} | {mark} {attempt.status} | {_speed(attempt)} |"
    yield ""
    for target in report.targets:
        if target.recommendation:
            yield f"- `{target.target}`: {target.recommendation}"


def _speed(attempt: Attempt) -> str:
    if attempt.speedup is None:
        return ""
    return f"{ratio(attempt.speedup)} {attempt.speedup.conclusion}"
