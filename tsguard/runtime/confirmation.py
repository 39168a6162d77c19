"""The linter's findings held against what torch did."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tsguard.report import Attempt, Finding, Purpose
from tsguard.rules import UnknownRule, rule
from tsguard.runtime.attempts import TargetAttempts


def confirmed(
    findings: Iterable[Finding], found: Sequence[TargetAttempts], purpose: Purpose = "trace"
) -> list[Finding]:
    """The findings, with ``confirmed`` where an attempt settles it.

    True: torch stumbled over this very place. False: the finding says that torch refuses
    the target, unconditionally, and torch took it. Otherwise torch has not spoken: it
    stops at its first error, and inputs may not reach the place.
    """
    by_target = {result.subject.spec: result for result in found}
    return [_settled(f, [by_target[t] for t in f.targets if t in by_target], purpose) for f in findings]


def _settled(finding: Finding, attempted: list[TargetAttempts], purpose: Purpose) -> Finding:
    words = [_word(finding, result, purpose) for result in attempted]
    if True in words:
        return replace(finding, confirmed=True)
    if words and all(word is False for word in words):
        return replace(finding, confirmed=False)
    return finding


def _word(finding: Finding, result: TargetAttempts, purpose: Purpose) -> bool | None:
    outcome = _outcome(finding)
    backend = {"blocked": "script", "broken": "script", "hazardous": purpose}.get(outcome)
    attempts = [(s, a) for s, a in result.attempts.items() if a.backend == backend]
    for spec, attempt in attempts:
        places: list[tuple[str | None, int | None]] = [*result.places.get(spec, ()), *_warned(attempt)]
        if backend == "script":
            places += [(b.error.path, b.error.line) for b in result.blockers]
        if any(_at(finding, path, line) for path, line in places):
            return True
    if outcome == "blocked" and finding.when is None and finding.severity == "error" and attempts:
        accepted = all(attempt.status in ("ok", "diverged") for _, attempt in attempts)
        return False if accepted else None
    return None


def _outcome(finding: Finding) -> str:
    try:
        return rule(finding.code).outcome
    except UnknownRule:
        return ""


def _warned(attempt: Attempt) -> list[tuple[str | None, int | None]]:
    return [(w.path, w.line) for w in attempt.warnings]


def _at(finding: Finding, path: str | None, line: int | None) -> bool:
    return path == finding.path and line is not None and finding.line <= line <= finding.end_line
