"""The linter's findings held against what torch did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from tsguard.report import (
    Attempt,
    ExportVerdict,
    Finding,
    ScriptVerdict,
    TargetReport,
    TraceVerdict,
)
from tsguard.rules import UnknownRule, rule
from tsguard.runtime.attempts import TargetAttempts

# The backends whose attempts tell of findings with an outcome.
_HEARD = {
    "blocked": ("script",),
    "broken": ("script",),
    "hazardous": ("trace",),
    "refused": ("export", "export_dynamic"),
    "specialised": ("export", "export_dynamic"),
    "unsaveable": ("script", "trace"),
}
_REFUSED = ("blocked", "refused")
# How torch says that a size which it was told to leave open cannot be.
_FIXED = "Constraints violated"


def confirmed(findings: Iterable[Finding], found: Sequence[TargetAttempts]) -> list[Finding]:
    """The findings, with ``confirmed`` where an attempt settles it.

    True: torch stumbled over this very place; a trace or a program that is made and disagrees with eager
    shows the hazards that torch warned of, or the only one; what was made could not be saved. A warning alone shows nothing: ``warned``.
    False: the finding says that torch refuses the target, or does not save it, unconditionally, and torch did. Otherwise
    torch has not spoken: it stops at its first error, and inputs may not reach the place.
    """
    findings = list(findings)
    alike = Counter((_outcome(f), t) for f in findings for t in f.targets)
    by_target = {result.subject.spec: result for result in found}

    def settled(finding: Finding) -> Finding:
        attempted = [
            (by_target[target], alike[_outcome(finding), target] == 1)
            for target in finding.targets
            if target in by_target
        ]
        return _settled(finding, attempted)

    return [settled(finding) for finding in findings]


def with_verdicts_held(target: TargetReport) -> TargetReport:
    """A target with what its attempts say of the linter's verdicts.

    A verdict that attempts leave open (a hazard that no input tried has shown, a branch on an
    argument) is neither confirmed nor refuted.
    """
    scripts = [a for a in target.attempts if a.backend == "script"]
    traces = [a for a in target.attempts if a.backend == "trace"]
    inference = [a for a in target.attempts if a.mode == "eval" and a.status != "skipped"]
    static = [a for a in inference if a.backend == "export"]
    dynamic = [a for a in inference if a.backend == "export_dynamic"]
    export = target.export
    return replace(
        target,
        script=replace(target.script, confirmed=_script_held(target.script.verdict, scripts)),
        trace=replace(target.trace, confirmed=_trace_held(target.trace.verdict, traces)),
        export=replace(
            export,
            confirmed=_export_held(export.verdict, static),
            dynamic_confirmed=_export_held(export.dynamic, [a for a in dynamic if _says_of_sizes(a)]),
        ),
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
    """What traces say of the verdict, which is of inference: a trace keeps the mode that it was made in."""
    attempts = [a for a in attempts if a.mode == "eval"] or attempts
    wrong = any(a.status in ("failed", "diverged") for a in attempts)
    fine = bool(attempts) and all(a.status == "ok" for a in attempts)
    if verdict == "safe":
        return False if wrong else fine or None
    return True if verdict == "hazardous" and wrong else None


def _export_held(verdict: ExportVerdict, attempts: Sequence[Attempt]) -> bool | None:
    """``ok`` tells against a refusal; that values are held need not show on the inputs tried."""
    unmade = [a for a in attempts if a.status == "failed" and not a.compile_seconds]
    refused = [a for a in unmade if not _is_of_sizes(a)]
    specialised = any(a.status in ("failed", "diverged") and a not in refused for a in attempts)
    fine = bool(attempts) and all(a.status == "ok" for a in attempts)
    if verdict == "exports":
        return False if refused or specialised else fine or None
    if verdict == "refused":
        return True if unmade else False if fine or specialised else None
    if verdict == "specialised":
        by_sizes = fine and all(a.backend == "export_dynamic" for a in attempts)
        return True if specialised else False if refused or by_sizes else None
    return None


def _is_of_sizes(attempt: Attempt) -> bool:
    """Whether torch.export made no program only because a dimension is open that a name says is fixed."""
    return attempt.error is not None and attempt.error.message.startswith(_FIXED)


def _says_of_sizes(attempt: Attempt) -> bool:
    """Whether other sizes were tried, or there is nothing to try them on."""
    tried = attempt.parity.variants if attempt.parity is not None else ()
    return attempt.status != "ok" or any(variant.note is not None for variant in tried)


def _settled(finding: Finding, attempted: list[tuple[TargetAttempts, bool]]) -> Finding:
    words = [_word(finding, result, is_only) for result, is_only in attempted]
    traces = [a for result, _ in attempted for a in result.attempts.values() if a.backend == "trace"]
    if finding.family == "trace" and any(_warned(finding, attempt) for attempt in traces):
        finding = replace(finding, warned=True)
    if True in words:
        return replace(finding, confirmed=True)
    if words and all(word is False for word in words):
        return replace(finding, confirmed=False)
    return finding


def _word(finding: Finding, result: TargetAttempts, is_only: bool) -> bool | None:
    outcome = _outcome(finding)
    backends = _HEARD.get(outcome, ())
    attempts = [(s, a) for s, a in result.attempts.items() if a.backend in backends]
    for spec, attempt in attempts:
        places: list[tuple[str | None, int | None]] = [*result.places.get(spec, ())]
        if attempt.backend == "script":
            places += [(b.error.path, b.error.line) for b in result.blockers]
        if any(_at(finding, path, line) for path, line in places):
            return True
        if (
            outcome in ("hazardous", "specialised")
            and attempt.status == "diverged"
            and (is_only or _warned(finding, attempt))
        ):
            return True
    if outcome == "unsaveable":
        saved = {attempt.saved for _, attempt in attempts if attempt.backend == finding.family}
        return True if False in saved else False if True in saved and finding.when is None else None
    said = [a for _, a in attempts if a.status != "skipped"]
    if outcome in _REFUSED and finding.when is None and finding.severity == "error" and said:
        return False if all(attempt.status in ("ok", "diverged") for attempt in said) else None
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
