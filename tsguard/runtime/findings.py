"""Findings that only an attempt can make: the TSG9xx rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

from tsguard.answer.words import is_internal
from tsguard.report import Attempt, AttemptError, Finding, TargetReport
from tsguard.rules import rule
from tsguard.runtime.attempts import TargetAttempts
from tsguard.runtime.needs import input_option, needs
from tsguard.runtime.shown import first_line, place, ratio, when

# What torch.jit.save says of None where a tensor is to be, as for an argument that is not annotated.
_UNDEFINED = "undefined Tensor"
_Places = Set[tuple[str | None, int | None]]
_EXPORTED = ("export", "export_dynamic")
_FORESEEN = ("hazardous", "depends")


def finding(code: str, target: TargetReport, at: AttemptError | None, **fields: str) -> Finding:
    """A finding of a TSG9xx rule, at the user's line in ``at`` or else at the target.

    Args:
        code: the rule's, or its name with a variant of its wording.
    """
    page = rule(code)
    worded = page.worded(code.partition("/")[2], {"target": target.target, **fields})
    path, line = target.path, target.line
    if at is not None and at.path is not None and at.line is not None:
        path, line = at.path, at.line
    return Finding(
        code=page.code,
        name=page.name,
        family=page.family,
        severity=page.severity,
        message=worded.message,
        help=worded.help,
        path=path,
        line=line,
        column=1,
        end_line=line,
        end_column=1,
        targets=(target.target,),
    )


def shown_by(target: TargetReport, found: TargetAttempts, known: Iterable[Finding] = ()) -> Iterator[Finding]:
    """What the attempts on a target showed beyond what the linter said of it, in the findings that are ``known``."""
    told = {(f.path, f.line) for f in known if f.family == "script" and target.target in f.targets}
    if not found.callable and found.stop is not None:
        need, stop = needs(found), found.stop
        if stop.fault and stop.tried:
            tried = ", ".join(stop.tried)
            yield finding(
                "TSG912", target, stop.error, fault=_said(stop.error), tried=tried, how=_given(found)
            )
        elif need is not None:
            yield finding("TSG908", target, None, what=need.what, why=need.why, how=need.help)
        else:
            error = found.stop.error
            code = "TSG909" if stop.step in ("inputs", "example_inputs") else "eager-fails/uncalled"
            if error.type == "ModuleNotFoundError":
                code = "eager-fails/missing"
            if stop.step == "inputs" and found.subject.inputs is not None and not stop.fault:
                code = "eager-fails/given"
            yield finding(code, target, error, when=when(stop.step), error=_said(error))
    works = any(a.backend == "eager" and a.status == "ok" for a in found.attempts.values())
    for attempt, where in _together(found.attempts.values()):
        failed = attempt.error if attempt.backend == "eager" else None
        if failed is not None and works and found.source == "inferred":
            how = "give inputs that it takes there with --input"
            yield finding("not-attempted/mode", target, failed, what=attempt.mode, why=_said(failed), how=how)
        else:
            yield from _of_attempt(target, attempt, where, told)


def _given(found: TargetAttempts) -> str:
    """What to give in place of what was guessed."""
    stop, subject = found.stop, found.subject
    if stop is not None and stop.step == "construct":
        return f"arguments of the constructor in the target: {subject.shown}:{subject.qualname}(...)"
    return f"inputs than {' '.join(map(input_option, stop.tried))}" if stop is not None else ""


def why_not(found: TargetAttempts) -> str | None:
    """Why a target was not attempted, None where it was."""
    if found.interrupted:
        return "the run was interrupted before it was attempted"
    if found.callable or found.stop is None:
        return None
    need, stop = needs(found), found.stop
    return (
        f"no {need.what} were found"
        if need is not None
        else f"it fails {when(stop.step)}: {_said(stop.error)}"
    )


def _together(attempts: Iterable[Attempt]) -> list[tuple[Attempt, str]]:
    """The attempts and where they were made; those of a backend that end in the same way are one."""
    alike: dict[object, list[Attempt]] = {}
    for number, attempt in enumerate(attempts):
        ending = (attempt.backend, attempt.status, attempt.error, attempt.compile_seconds > 0)
        alike.setdefault(ending if attempt.error is not None else number, []).append(attempt)
    return [(group[0], " and ".join(map(place, group))) for group in alike.values()]


def _of_attempt(target: TargetReport, attempt: Attempt, where: str, told: _Places) -> Iterator[Finding]:
    error = attempt.error
    if attempt.status in ("crashed", "timeout") and error is not None:
        yield finding("TSG910", target, error, backend=attempt.backend, place=where, how=error.message)
    elif attempt.backend == "eager":
        if attempt.status == "failed" and error is not None:
            yield finding("TSG909", target, error, when=f"in {where}", error=_said(error))
    elif attempt.status == "failed" and error is not None:
        yield from _refusal(target, attempt, error, where, told)
    elif attempt.status == "diverged" and attempt.backend in _EXPORTED and error is not None:
        verdict = target.export.verdict if attempt.backend == "export" else target.export.dynamic
        if verdict != "specialised":
            yield finding("TSG914", target, error, how=first_line(error.message))
    elif attempt.status == "diverged" and error is not None:
        unforeseen = target.trace.verdict not in _FORESEEN
        if attempt.backend == "trace" and unforeseen:
            yield finding(
                "TSG904", target, _first_warning(attempt), place=where, how=first_line(error.message)
            )
        elif attempt.backend != "trace" and not (
            attempt.backend == "script" and target.script.verdict == "broken"
        ):
            yield finding(
                "TSG902", target, error, backend=attempt.backend, place=where, how=first_line(error.message)
            )
    if attempt.saved is False:
        how = first_line(attempt.note or "")
        code = "not-saveable/undefined" if _UNDEFINED in how else "TSG911"
        yield finding(code, target, None, backend=attempt.backend, how=how)
    if attempt.speedup is not None and attempt.speedup.conclusion == "slower":
        yield finding(
            "TSG905", target, None, backend=attempt.backend, place=where, ratio=ratio(attempt.speedup)
        )


def _refusal(
    target: TargetReport, attempt: Attempt, error: AttemptError, where: str, told: _Places
) -> Iterator[Finding]:
    if (
        attempt.backend == "script"
        and target.script.verdict == "depends"
        and (error.path, error.line) in told
    ):
        return  # one of the constructor arguments that it depends on
    if attempt.backend == "script" and target.script.verdict not in ("blocked", "broken"):
        ran = attempt.compile_seconds > 0
        code = "TSG902" if ran else "TSG901"
        how = f"raises {_said(error)}" if ran else _said(error)
        yield finding(code, target, error, backend="script", place=where, how=how)
    elif attempt.backend == "trace" and target.trace.verdict not in _FORESEEN:
        yield finding("TSG903", target, error, place=where, how=_said(error))
    elif attempt.backend == "export" and target.export.verdict != "refused":
        yield finding("TSG913", target, error, place=where, how=_said(error))


def _first_warning(attempt: Attempt) -> AttemptError | None:
    return attempt.warnings[0] if attempt.warnings else attempt.error


def _said(error: AttemptError) -> str:
    said = ": ".join(filter(None, (error.type, first_line(error.message))))
    return "an internal error of torch" if is_internal(error) else said
