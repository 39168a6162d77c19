"""What an attempt to trace says of the linter's hazards: a warning is none of what it shows."""

from __future__ import annotations

import pytest

from tsguard.formats.tables import said_by_torch
from tsguard.report import Attempt, AttemptError, Finding
from tsguard.runtime.attempts import TargetAttempts
from tsguard.runtime.confirmation import confirmed
from tsguard.runtime.plan import AttemptSpec
from tsguard.runtime.subject import Subject

SPEC = AttemptSpec("trace")
SUBJECT = Subject("m.py:Net", "/m.py", "m.py", "/", "m", "Net", "module")


def hazard(line: int, code: str = "TSG202") -> Finding:
    return Finding(code, "n", "trace", "error", "m", None, "m.py", line, 1, line, 5, targets=("m.py:Net",))


def settled(
    status: str, *findings: Finding, warned: int | None = None, raised: int | None = None
) -> list[str | None]:
    """What the report says of findings after a trace with this end, warning and error."""
    warnings = () if warned is None else (AttemptError("TracerWarning", "w", "m.py", warned),)
    attempt = Attempt("trace", "cpu", "eval", "forward", status, warnings=warnings)  # type: ignore[arg-type]
    places = {SPEC: [("m.py", raised)]} if raised is not None else {}
    found = TargetAttempts(SUBJECT, attempts={SPEC: attempt}, places=places)
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
