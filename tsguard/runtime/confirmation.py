"""The linter's findings held against what torch did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from tsguard.report import Attempt, Finding, Purpose, ScriptVerdict, TargetReport, TraceVerdict
from tsguard.rules import UnknownRule, rule
from tsguard.runtime.attempts import TargetAttempts


def confirmed(
    findings: Iterable[Finding], found: Sequence[TargetAttempts], purpose: Purpose = "trace"
) -> list[Finding]:
    """The findings, with ``confirmed`` where an attempt settles it.

    True: torch stumbled over this very place; a trace that is made and disagrees with eager shows the
    hazards that torch warned of, or the only one. A warning alone shows nothing: ``warned``. False: the finding says that torch refuses
    the target, unconditionally, and torch took it. Otherwise torch has not spoken: it
    stops at its first error, and inputs may not reach the place.
    """
    findings = list(findings)
    hazards = Counter(t for f in findings if _outcome(f) == "hazardous" for t in f.targets)
    by_target = {result.subject.spec: (result, hazards[result.subject.spec] == 1) for result in found}
    return [_settled(f, [by_target[t] for t in f.targets if t in by_target], purpose) for f in findings]


def with_verdicts_held(target: TargetReport, purpose: Purpose = "trace") -> TargetReport:
    """A target with what its attempts say of the linter's verdicts.

    A verdict that attempts leave open (a hazard that no input tried has shown, a branch on an
    argument) is neither confirmed nor refuted.
    """
    scripts = [a for a in target.attempts if a.backend == "script"]
    traces = [a for a in target.attempts if a.backend == purpose]
    return replace(
        target,
        script=replace(target.script, confirmed=_script_held(target.script.verdict, scripts)),
        trace=replace(target.trace, confirmed=_trace_held(target.trace.verdict, traces)),
    )


def _script_held(verdict: ScriptVerdict, attempts: Sequence[Attempt]) -> bool | None:
    refused = any(a.status == "failed" and not a.compile_seconds for a in attempts)
    wrong = any(a.status == "diverged" or (a.status == "failed" and a.compile_seconds) for a in attempts)
    fine = bool(attempts) and all(a.status == "ok" for a in attempts)
    if verdict == "ok":
        return False if refused or wrong else fine or None
    if verdict == "blocked":
        return True if refused else False if fine else None
    return True if verdict == "broken" and wrong else None


def _trace_held(verdict: TraceVerdict, attempts: Sequence[Attempt]) -> bool | None:
    wrong = any(a.status in ("failed", "diverged") for a in attempts)
    fine = bool(attempts) and all(a.status == "ok" for a in attempts)
    if verdict == "safe":
        return False if wrong else fine or None
    return True if verdict == "hazardous" and wrong else None


def _settled(finding: Finding, attempted: list[tuple[TargetAttempts, bool]], purpose: Purpose) -> Finding:
    words = [_word(finding, result, purpose, is_only) for result, is_only in attempted]
    traces = [a for result, _ in attempted for a in result.attempts.values() if a.backend == "trace"]
    if finding.family == "trace" and any(_warned(finding, attempt) for attempt in traces):
        finding = replace(finding, warned=True)
    if True in words:
        return replace(finding, confirmed=True)
    if words and all(word is False for word in words):
        return replace(finding, confirmed=False)
    return finding


def _word(finding: Finding, result: TargetAttempts, purpose: Purpose, is_only: bool) -> bool | None:
    outcome = _outcome(finding)
    backend = {"blocked": "script", "broken": "script", "hazardous": purpose}.get(outcome)
    attempts = [(s, a) for s, a in result.attempts.items() if a.backend == backend]
    for spec, attempt in attempts:
        places: list[tuple[str | None, int | None]] = [*result.places.get(spec, ())]
        if backend == "script":
            places += [(b.error.path, b.error.line) for b in result.blockers]
        if any(_at(finding, path, line) for path, line in places):
            return True
        if backend != "script" and attempt.status == "diverged" and (is_only or _warned(finding, attempt)):
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


def _warned(finding: Finding, attempt: Attempt) -> bool:
    return any(_at(finding, warning.path, warning.line) for warning in attempt.warnings)


def _at(finding: Finding, path: str | None, line: int | None) -> bool:
    return path == finding.path and line is not None and finding.line <= line <= finding.end_line
