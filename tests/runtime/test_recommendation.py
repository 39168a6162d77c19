"""What to do with a target, in a line or two."""

from __future__ import annotations

import pytest

from tsguard.report import Attempt, AttemptError, Finding, Speedup
from tsguard.runtime.attempts import Stop, TargetAttempts
from tsguard.runtime.plan import AttemptSpec
from tsguard.runtime.recommendation import recommend
from tsguard.runtime.subject import Subject

SUBJECT = Subject("m.py:Net", "/m.py", "m.py", "/", "m", "Net", "module")


def attempt(words: str, ratio: float | None = None, error: str | None = None, **fields: object) -> Attempt:
    backend, mode, status = words.split()
    speedup = None
    if ratio is not None:
        conclusion = "faster" if ratio > 1.05 else "slower" if ratio < 0.95 else "no difference"
        speedup = Speedup(ratio, ratio - 0.02, ratio + 0.02, 60, conclusion)  # type: ignore[arg-type]
    told = AttemptError("RuntimeError", error, "m.py", 7) if error else None
    passes = "forward" if mode == "eval" else "forward+backward"
    return Attempt(backend, "cpu", mode, passes, status, told, speedup=speedup, **fields)  # type: ignore[arg-type]


def found(*attempts: Attempt, stop: Stop | None = None) -> TargetAttempts:
    result = TargetAttempts(SUBJECT, stop=stop, source=None if stop else "inferred")
    result.attempts = {AttemptSpec(a.backend, a.device, a.mode): a for a in attempts}
    return result


EAGER = attempt("eager eval ok")
FASTER = attempt("script eval ok", 1.5)


@pytest.mark.parametrize(
    ("attempts", "text"),
    [
        ([EAGER, FASTER], "Script it: equal to eager and 1.50x [1.48, 1.52] in eval on cpu."),
        (
            [EAGER, FASTER, attempt("script train ok", 1.3)],
            "Script it: equal to eager and 1.50x [1.48, 1.52] in eval on cpu, 1.30x [1.28, 1.32] in training.",
        ),
        (
            [EAGER, FASTER, attempt("script train ok", 0.9)],
            "Script it: equal to eager and 1.50x [1.48, 1.52] in eval on cpu; train it eagerly, script is slower there, 0.90x [0.88, 0.92].",
        ),
        (
            [EAGER, FASTER, attempt("onednn eval ok", 3.0)],
            "Trace and freeze it with oneDNN Graph fusion: equal to eager and 3.00x [2.98, 3.02] in eval on cpu (script alone 1.50x [1.48, 1.52]).",
        ),
        (
            [EAGER, attempt("script eval failed", error="no"), attempt("freeze eval ok", 2.0)],
            "Trace and freeze it: equal to eager and 2.00x [1.98, 2.02] in eval on cpu. To script it: m.py:7: no.",
        ),
        (
            [EAGER, attempt("script eval ok", 1.0), attempt("trace eval ok", 1.0)],
            "It works with script and trace and gains no time (script 1.00x [0.98, 1.02] in eval on cpu): use it to deploy without Python, not for speed.",
        ),
        (
            [EAGER, attempt("script eval ok", 0.6)],
            "Leave it eager: script is slower, 0.60x [0.58, 0.62] in eval on cpu.",
        ),
        (
            [EAGER, FASTER, attempt("trace eval diverged", error="with other values: it differs")],
            "Script it: equal to eager and 1.50x [1.48, 1.52] in eval on cpu. Do not trace it: with other values: it differs.",
        ),
        (
            [EAGER, attempt("script eval failed", error="no lambda"), attempt("trace eval ok", 1.4)],
            "Trace it: equal to eager and 1.40x [1.38, 1.42] in eval on cpu. To script it: m.py:7: no lambda.",
        ),
        (
            [
                EAGER,
                attempt("script eval failed", error="no lambda"),
                attempt("trace eval failed", error="no"),
            ],
            "Leave it eager. First repair: m.py:7: no lambda.",
        ),
        (
            [attempt("eager eval failed", error="bad shape"), attempt("script eval ok")],
            "Repair the module itself first, it fails in eval on cpu: bad shape. It does compile with torch.jit.script.",
        ),
        (
            [EAGER, attempt("script eval ok", 1.5, saved=False, note="cannot be saved: a Python call")],
            "Script it: equal to eager and 1.50x [1.48, 1.52] in eval on cpu. The script result cannot be saved: a Python call.",
        ),
    ],
)
def test_recommendation(attempts: list[Attempt], text: str) -> None:
    assert recommend(found(*attempts), []) == text


def test_the_linters_words_are_better_than_torchs() -> None:
    blocker = Finding("TSG121", "n", "script", "error", "a lambda does not compile", None, "m.py", 7, 1, 7, 9)
    result = found(EAGER, attempt("script eval failed", error="Lambda aren't supported:"))
    assert (
        recommend(result, [blocker])
        == "Leave it eager. First repair: m.py:7: a lambda does not compile (TSG121)."
    )


BAKED = Finding("TSG208", "n", "trace", "error", "a constant of a size", None, "m.py", 9, 1, 9, 9)
MIND = "Mind what the trace gets wrong for some inputs, though not for those tried: m.py:9: a constant of a size (TSG208)"


@pytest.mark.parametrize(
    "attempts",
    [
        [attempt("trace eval ok", 1.4)],
        [attempt("trace eval ok", 1.0)],
        [attempt("script eval ok", 1.0), attempt("trace eval ok", 1.0)],
        [attempt("freeze eval ok", 2.0), attempt("trace eval ok", 1.0)],
        [FASTER, attempt("onednn eval ok", 3.0)],
        [FASTER, attempt("script train ok", 0.9), attempt("trace train ok", 1.4)],
    ],
)
def test_a_trace_that_agreed_is_recommended_with_what_it_bakes(attempts: list[Attempt]) -> None:
    assert MIND + "." in recommend(found(EAGER, *attempts), [], [BAKED])
    assert MIND + ", and 1 more." in recommend(found(EAGER, *attempts), [], [BAKED, BAKED])
    assert "Mind" not in recommend(found(EAGER, *attempts), [])


@pytest.mark.parametrize(
    "attempts",
    [
        [FASTER, attempt("trace eval ok", 1.1)],
        [attempt("trace eval ok", 0.6)],
        [FASTER, attempt("freeze eval ok", 2.0), attempt("trace eval ok", 1.0)],
        [FASTER, attempt("trace eval diverged", error="it differs")],
        [attempt("compile eval ok", 2.0), attempt("trace eval ok", 1.0)],
    ],
)
def test_what_a_trace_bakes_does_not_matter_where_another_way_is_recommended(attempts: list[Attempt]) -> None:
    assert "Mind" not in recommend(found(EAGER, *attempts), [], [BAKED])


def test_what_is_missing_is_asked_for() -> None:
    stop = Stop("construct", AttemptError("TypeError", "missing argument"), ("config",))
    assert recommend(found(stop=stop), []) == "Not called: give them in the target: 'm.py:Net(config=...)'."
