"""What attempts showed of a target and what the linter knows of it, as the facts of one answer."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tsguard.answer.deciding import answer
from tsguard.answer.facts import Answer, Facts, Stopped
from tsguard.report import Finding, TargetReport
from tsguard.runtime.attempts import TargetAttempts
from tsguard.runtime.needs import needs
from tsguard.runtime.shown import when


def recommend(target: TargetReport, found: TargetAttempts, known: Iterable[Finding]) -> Answer:
    """The answer for a target.

    Args:
        known: all that the linter found, whether the report lists it or not.
    """
    return answer(
        Facts(
            script=target.script.verdict,
            findings=tuple(f for f in known if target.target in f.targets),
            attempts=tuple(found.attempts.values()),
            stopped=_stopped(found),
            given=found.subject.inputs is not None,
            guessed=found.source == "inferred",
            tensors=not found.callable or _may_hold_tensors(found.inputs),
        )
    )


def _stopped(found: TargetAttempts) -> Stopped | None:
    if found.callable or found.stop is None:
        return None
    need = needs(found)
    lacking = f"no {need.what} were found{need.why}: {need.help}" if need is not None else None
    return Stopped(when(found.stop.step), found.stop.error, lacking, found.stop.step == "inputs")


def _may_hold_tensors(inputs: tuple[str, ...] | None) -> bool:
    """Whether there can be a tensor in the inputs: a literal, such as an empty list, holds none."""
    return inputs is None or not all(map(_is_literal, inputs))


def _is_literal(expression: str) -> bool:
    name, equals, value = expression.partition("=")
    try:
        ast.literal_eval(value if equals and name.isidentifier() else expression)
    except (ValueError, SyntaxError):
        return False
    return True
