"""What an attempt to trace says of the linter's hazards: a warning is none of what it shows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tsguard.formats.tables import said_by_torch
from tsguard.report import Attempt, AttemptError, ExportJudgement, Finding, Parity, TargetReport, Variant
from tsguard.runtime.attempts import TargetAttempts
from tsguard.runtime.confirmation import confirmed, with_verdicts_held
from tsguard.runtime.plan import AttemptSpec
from tsguard.runtime.subject import Subject

SPEC = AttemptSpec("trace")
SUBJECT = Subject("m.py:Net", "/m.py", "m.py", "/", "m", "Net", "module")


def hazard(line: int, code: str = "TSG202") -> Finding:
    return Finding(code, "n", "trace", "error", "m", None, "m.py", line, 1, line, 5, targets=("m.py:Net",))


def settled(
    status: str,
    *findings: Finding,
    warned: int | None = None,
    raised: int | None = None,
    spec: AttemptSpec = SPEC,
    saved: bool | None = None,
) -> list[str | None]:
    """What the report says of findings after an attempt with this end, warning and error."""
    warnings = () if warned is None else (AttemptError("TracerWarning", "w", "m.py", warned),)
    attempt = Attempt(spec.backend, "cpu", "eval", "forward", status, warnings=warnings, saved=saved)  # type: ignore[arg-type]
    places = {spec: [("m.py", raised)]} if raised is not None else {}
    found = TargetAttempts(SUBJECT, attempts={spec: attempt}, places=places)
    return [said_by_torch(finding) for finding in confirmed(findings, [found])]


def test_an_error_at_the_place_confirms_a_hazard() -> None:
    assert settled("failed", hazard(3), hazard(7), raised=3) == ["confirms this", None]


@pytest.mark.parametrize("code", ["TSG202", "TSG237"])
def test_a_warning_beside_equal_results_confirms_nothing(code: str) -> None:
    assert settled("ok", hazard(3, code), warned=3) == ["warns of it"]


def test_a_divergence_confirms_the_hazard_that_torch_warned_of() -> None:
    assert settled("diverged", hazard(3), hazard(7), warned=3) == ["confirms this", None]


def test_a_divergence_confirms_the_only_hazard() -> None:
    assert settled("diverged", hazard(3)) == ["confirms this"]
    assert settled("diverged", hazard(3), hazard(7)) == [None, None]


def test_a_divergence_confirms_no_note() -> None:
    assert settled("diverged", hazard(3, "TSG237"), hazard(7), warned=3) == ["warns of it", "confirms this"]


def test_what_cannot_be_saved_is_confirmed_or_refuted_by_saving() -> None:
    told = replace(hazard(3, "TSG241"), severity="warning")
    refuted = said_by_torch(replace(told, confirmed=False))
    assert settled("ok", told, saved=False) == ["confirms this"]
    assert settled("ok", told, saved=True) == [refuted]
    assert settled("ok", replace(told, when="x is None"), saved=True) == [None]
    assert settled("ok", told) == [None]
    of_script = replace(told, code="TSG1011", family="script")
    assert settled("ok", of_script, saved=False) == [None]
    assert settled("ok", of_script, saved=False, spec=AttemptSpec("script")) == ["confirms this"]


EXPORT = AttemptSpec("export")


def test_a_refusal_of_torch_export_is_confirmed_at_its_place_and_refuted_by_a_program() -> None:
    refusal = hazard(3, "TSG601")
    assert settled("failed", refusal, hazard(7, "TSG602"), raised=3, spec=EXPORT) == ["confirms this", None]
    assert settled("failed", refusal, raised=9, spec=EXPORT) == [None]
    assert settled("ok", refusal, spec=EXPORT) == [said_by_torch(replace(refusal, confirmed=False))]
    assert settled("ok", replace(refusal, when="x is None"), spec=EXPORT) == [None]
    assert settled("skipped", refusal, spec=EXPORT) == [None]


def test_what_a_program_holds_is_confirmed_by_other_results_and_never_refuted() -> None:
    held = replace(hazard(3, "TSG607"), severity="warning")
    assert settled("diverged", held, spec=EXPORT) == ["confirms this"]
    assert settled("ok", held, spec=EXPORT) == [None]


def test_an_attempt_to_trace_says_nothing_of_torch_export() -> None:
    assert settled("failed", hazard(3, "TSG601"), raised=3) == [None]
    assert settled("ok", hazard(3, "TSG601")) == [None]


SAME, LARGER = Variant("same inputs", True), Variant("other batch size", True, note="(2, 4) to (3, 4)")
REFUSED = AttemptError("GuardOnDataDependentSymNode", "Could not guard on data-dependent expression")
FIXED = AttemptError("UserError", "Constraints violated (batch)! For more information")


def held(judgement: ExportJudgement, backend: str, status: str, **fields: object) -> tuple[bool | None, ...]:
    """What one attempt says of a verdict, for the example's sizes and for open ones."""
    attempt = Attempt(backend, "cpu", "eval", "forward", status, **fields)  # type: ignore[arg-type]
    target = TargetReport("m.py:Net", "m.py", "Net", 1, "module", export=judgement, attempts=(attempt,))
    found = with_verdicts_held(target).export
    return found.confirmed, found.dynamic_confirmed


@pytest.mark.parametrize(
    ("verdict", "status", "fields", "says"),
    [
        ("exports", "ok", {}, True),
        ("exports", "failed", {"error": REFUSED}, False),
        ("exports", "diverged", {}, False),
        ("exports", "skipped", {}, None),
        ("refused", "failed", {"error": REFUSED}, True),
        ("refused", "ok", {}, False),
        ("refused", "diverged", {}, False),
        ("specialised", "diverged", {}, True),
        ("specialised", "failed", {"error": REFUSED}, False),
        ("specialised", "ok", {}, None),  # what it holds need not matter on the inputs tried
        ("unknown", "failed", {"error": REFUSED}, None),
    ],
)
def test_an_export_verdict_is_held_against_the_attempt(
    verdict: str, status: str, fields: dict[str, object], says: bool | None
) -> None:
    judgement = ExportJudgement(verdict)  # type: ignore[arg-type]
    assert held(judgement, "export", status, **fields) == (says, None)


@pytest.mark.parametrize(
    ("verdict", "status", "fields", "says"),
    [
        ("exports", "ok", {"parity": Parity(True, (SAME, LARGER))}, True),
        ("exports", "ok", {"parity": Parity(True, (SAME,))}, None),  # eager takes no other size
        ("exports", "diverged", {}, False),
        ("specialised", "diverged", {}, True),
        ("specialised", "failed", {"error": FIXED}, True),  # a size that has a name
        ("specialised", "ok", {"parity": Parity(True, (SAME, LARGER))}, False),
        ("specialised", "failed", {"error": REFUSED}, False),
        ("refused", "failed", {"error": FIXED}, True),
        ("refused", "failed", {"error": REFUSED}, True),
    ],
)
def test_a_verdict_on_open_sizes_is_held_against_other_sizes(
    verdict: str, status: str, fields: dict[str, object], says: bool | None
) -> None:
    judgement = ExportJudgement("exports", dynamic=verdict)  # type: ignore[arg-type]
    assert held(judgement, "export_dynamic", status, **fields) == (None, says)
