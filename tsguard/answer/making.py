"""How an attempt was made, and what that means for whether it may be recommended."""

from __future__ import annotations

from typing import Literal

from tsguard.answer.facts import Facts, was_run
from tsguard.report import Attempt, Finding

# What torch.jit.save and AOTInductor write is loaded by C++.
_PORTABLE = frozenset({"script", "trace", "freeze", "optimize_for_inference", "aot_inductor"})
EXPORTED = frozenset({"export", "export_dynamic", "aot_inductor"})
_TRACED = frozenset({"trace", "onednn"})
# Made of the script, or of the trace where that fails.
_OF_EITHER = frozenset({"freeze", "optimize_for_inference"})
_WRONG = frozenset({"failed", "diverged", "crashed", "timeout"})


def way(attempt: Attempt, facts: Facts) -> Literal["script", "trace", ""]:
    """By which of the two an attempt was made; "" for neither and where that is not known."""
    if attempt.backend == "script":
        return "script"
    if attempt.backend in _TRACED:
        return "trace"
    if attempt.backend in _OF_EITHER:
        scripts = [a for a in facts.attempts if a.backend == "script" and a.device == attempt.device]
        if any(a.status in ("ok", "diverged") for a in scripts):
            return "script"
        return "trace" if any(a.status in _WRONG for a in scripts) else ""
    return ""


def may_trace(attempt: Attempt, facts: Facts) -> bool:
    """Whether an attempt is, or may be, a trace."""
    made = way(attempt, facts)
    return made == "trace" or (made == "" and attempt.backend in _OF_EITHER)


def is_right(attempt: Attempt, facts: Facts) -> bool:
    """Whether an attempt may be recommended: it worked, agreed with eager, and none of its kind disproves it."""
    if attempt.backend == "eager" or attempt.status != "ok" or not was_run(attempt):
        return False
    if attempt.parity is not None and not attempt.parity.ok:
        return False
    beside = [a for a in facts.attempts if _same_place(a, attempt)]
    if attempt.mode == "train" and _diverges_in_inference(attempt, facts):
        return False
    if attempt.backend in EXPORTED:
        # The program for the example's sizes is the least that torch.export has to get right.
        return all(a.status not in _WRONG for a in beside if a.backend == "export")
    if not may_trace(attempt, facts):
        return True
    return facts.tensors and all(a.status not in _WRONG for a in beside if way(a, facts) == "trace")


def _diverges_in_inference(attempt: Attempt, facts: Facts) -> bool:
    """Whether the backend is wrong in inference, which tries more inputs than training does."""
    same = (a for a in facts.attempts if (a.backend, a.device) == (attempt.backend, attempt.device))
    return any(a.mode == "eval" and a.dtype == attempt.dtype and a.status == "diverged" for a in same)


def is_open(attempt: Attempt, facts: Facts) -> bool | None:
    """Whether what is exported takes other sizes than the example's, which an attempt beside it tells; else None."""
    beside = (a for a in facts.attempts if a.backend == "export_dynamic" and _same_place(a, attempt))
    found = next((a for a in beside if a.status != "skipped"), None)
    return is_right(found, facts) if found is not None else None


def hazards(attempt: Attempt, facts: Facts) -> list[Finding]:
    """What the linter knows an attempt to get wrong, which no input that was tried need have shown."""
    if attempt.backend in EXPORTED:
        errors = (f for f in facts.findings if f.family == "export" and f.severity == "error")
        return [f for f in errors if f.confirmed is not False]
    if may_trace(attempt, facts):
        return [f for f in facts.findings if f.family == "trace" and f.severity == "error"]
    if way(attempt, facts) == "script" and facts.script == "broken":
        return [f for f in facts.findings if f.family == "script" and f.severity == "error"]
    return []


def is_portable(attempt: Attempt, facts: Facts) -> bool:
    """Whether it runs without Python: once saved, which is tried in one mode for all."""
    return attempt.backend in _PORTABLE and is_saved(attempt, facts)


def is_saved(attempt: Attempt, facts: Facts) -> bool:
    """Whether nothing showed that what an attempt makes is of no use once saved."""
    alike = [a for a in facts.attempts if (a.backend, a.device) == (attempt.backend, attempt.device)]
    return all(a.saved is not False for a in alike)


def _same_place(one: Attempt, other: Attempt) -> bool:
    return (one.device, one.mode, one.dtype) == (other.device, other.mode, other.dtype)
