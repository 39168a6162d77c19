"""The answer in words: the first row of each is what was attempted, then what is said."""

from __future__ import annotations

import pytest

from tsguard.answer.deciding import answer
from tsguard.answer.facts import Facts, Stopped
from tsguard.answer.speed import conclusion
from tsguard.report import Attempt, AttemptError, Finding, Speedup


def speedup(median: float, width: float = 0.02) -> Speedup:
    low, high = median - width, median + width
    return Speedup(median, low, high, 60, conclusion(median, low, high))


def attempt(
    words: str, ratio: float | Speedup | None = None, error: str | None = None, **fields: object
) -> Attempt:
    backend, mode, status = words.split()
    told = AttemptError("RuntimeError", error, "m.py", 7) if error else None
    passes = "forward" if mode == "eval" else "forward+backward"
    timed = speedup(ratio) if isinstance(ratio, float) else ratio
    return Attempt(backend, "cpu", mode, passes, status, told, speedup=timed, **fields)  # type: ignore[arg-type]


def said(*attempts: Attempt, **known: object) -> str:
    return answer(Facts(attempts=attempts, **known)).text  # type: ignore[arg-type]


def blocker(line: int = 7, **fields: object) -> Finding:
    given = {"code": "TSG148", "family": "script", "message": "a lambda does not compile", **fields}
    return Finding(
        name="n", severity="error", help=None, path="m.py", line=line, column=1, end_line=line,
        end_column=9, **given,  # type: ignore[arg-type]
    )  # fmt: skip


EAGER = attempt("eager eval ok")
FASTER = attempt("script eval ok", 1.5)
NOISY = Speedup(1.1, 0.7, 1.6, 15, "too noisy")
HAZARD = blocker(9, code="TSG208", family="trace", message="a constant of a size")
INTERNAL = "0 INTERNAL ASSERT FAILED at ir_emitter.cpp:1, please report a bug to PyTorch"


@pytest.mark.parametrize(
    ("attempts", "text"),
    [
        ([FASTER], "Script it: equal to eager and 1.50x [1.48, 1.52] in eval on cpu."),
        (
            [FASTER, attempt("script train ok", 1.3)],
            "Script it: equal to eager and 1.50x [1.48, 1.52] in eval on cpu, 1.30x [1.28, 1.32] in training.",
        ),
        (
            [FASTER, attempt("script train ok", 0.9)],
            "Script it: equal to eager and 1.50x [1.48, 1.52] in eval on cpu; train it eagerly, script is slower there, 0.90x [0.88, 0.92].",
        ),
        (
            [FASTER, attempt("script train ok", NOISY)],
            "Script it: equal to eager and 1.50x [1.48, 1.52] in eval on cpu; in training the timing is too noisy to tell.",
        ),
        # What another backend shows in training says nothing of the one that is recommended.
        (
            [FASTER, attempt("script train ok", NOISY), attempt("trace train ok", 0.8)],
            "Script it: equal to eager and 1.50x [1.48, 1.52] in eval on cpu; in training the timing is too noisy to tell.",
        ),
        (
            [attempt("script eval ok", 0.9), attempt("script train ok", 1.0)],
            "It works with script and is not faster (script 1.00x [0.98, 1.02] in train on cpu; slower in eval on cpu, script 0.90x [0.88, 0.92]): use it to deploy without Python, not for speed.",
        ),
        (
            [FASTER, attempt("onednn eval ok", 3.0)],
            "Trace and freeze it with oneDNN Graph fusion: equal to eager and 3.00x [2.98, 3.02] in eval on cpu (script alone 1.50x [1.48, 1.52]).",
        ),
        (
            [attempt("script eval failed", error="not taken"), attempt("freeze eval ok", 2.0)],
            "Trace and freeze it: equal to eager and 2.00x [1.98, 2.02] in eval on cpu. To script it: m.py:7: not taken.",
        ),
        # Intervals that do not tell two apart: what gains in training too is taken, then the plainer.
        (
            [
                attempt("script eval ok", 1.06),
                attempt("trace eval ok", 1.08),
                attempt("script train ok", 2.7),
            ],
            "Script it: equal to eager and 1.06x [1.04, 1.08] in eval on cpu, 2.70x [2.68, 2.72] in training.",
        ),
        (
            [attempt("script eval ok", 1.49), attempt("trace eval ok", 1.5)],
            "Script it: equal to eager and 1.49x [1.47, 1.51] in eval on cpu.",
        ),
        (
            [attempt("freeze eval ok", 2.0)],
            "Freeze it: equal to eager and 2.00x [1.98, 2.02] in eval on cpu.",
        ),
        (
            [attempt("script eval ok", 1.0), attempt("trace eval ok", 1.0)],
            "It works with script and trace and is not faster (script 1.00x [0.98, 1.02] in eval on cpu): use it to deploy without Python, not for speed.",
        ),
        (
            [attempt("script eval ok", 1.0, saved=False, note="cannot be saved: a Python call")],
            "It works with script and is not faster (script 1.00x [0.98, 1.02] in eval on cpu): it is not faster here. The script result cannot be saved: a Python call.",
        ),
        (
            [attempt("compile eval ok", 1.0)],
            "It works with compile and is not faster (compile 1.00x [0.98, 1.02] in eval on cpu): it is not faster here.",
        ),
        (
            [attempt("script eval ok", NOISY), attempt("trace eval ok", NOISY)],
            "It works with script and trace; whether it is faster is not known, script is too noisy with 1.10x [0.70, 1.60] in eval on cpu: use a longer --time-budget or a quieter machine.",
        ),
        ([attempt("script eval ok")], "It works with script; no speed was measured."),
        (
            [attempt("script eval ok", 0.6)],
            "Leave it eager: script is slower, 0.60x [0.58, 0.62] in eval on cpu.",
        ),
        (
            [FASTER, attempt("trace eval diverged", error="with other values: it differs")],
            "Script it: equal to eager and 1.50x [1.48, 1.52] in eval on cpu. Do not trace it: m.py:7: with other values: it differs.",
        ),
        (
            [attempt("export eval ok", 0.6), attempt("export_dynamic eval failed", error="batch is held")],
            "Leave it eager: export is slower, 0.60x [0.58, 0.62] in eval on cpu. Do not export it with dynamic sizes: m.py:7: batch is held.",
        ),
        (
            [attempt("script eval failed", error="no lambda"), attempt("trace eval failed", error="no")],
            "Leave it eager. First repair, for script: m.py:7: no lambda.",
        ),
        (
            [attempt("script eval failed", error=INTERNAL)],
            "Leave it eager. First repair, for script: m.py:7: torch fails with an internal error, a bug of torch and not of this code.",
        ),
        (
            [FASTER, attempt("eager train failed", error="no gradient")],
            "Script it: equal to eager and 1.50x [1.48, 1.52] in eval on cpu. The module itself fails in train on cpu: m.py:7: no gradient.",
        ),
        (
            [attempt("freeze train skipped", note="freeze is for inference only")],
            "Nothing was attempted: freeze is for inference only.",
        ),
    ],
)
def test_what_to_do(attempts: list[Attempt], text: str) -> None:
    assert said(EAGER, *attempts) == text


def test_a_module_that_fails_is_to_be_repaired_unless_the_inputs_were_given() -> None:
    attempts = (attempt("eager eval failed", error="bad shape"), attempt("script eval ok"))
    compiles = " It does compile with torch.jit.script."
    assert said(*attempts) == (
        f"Repair the module itself first, it fails in eval on cpu: m.py:7: bad shape.{compiles}"
    )
    assert said(*attempts, given=True) == (
        f"Check the inputs that you gave: with them it fails in eval on cpu, uncompiled: m.py:7: bad shape.{compiles}"
    )


@pytest.mark.parametrize("torch", ["Lambda aren't supported", INTERNAL])
@pytest.mark.parametrize("line", [7, 3])
def test_the_linters_words_are_better_than_torchs(torch: str, line: int) -> None:
    attempts = (EAGER, attempt("script eval failed", error=torch))
    stops = f"; torch stops at m.py:7: {torch}" if line != 7 and torch != INTERNAL else ""
    known = f"m.py:{line}: a lambda does not compile (TSG148){stops}."
    assert said(*attempts, findings=(blocker(line),)) == f"Leave it eager. First repair, for script: {known}"


def test_a_trace_that_agreed_is_recommended_with_what_it_gets_wrong() -> None:
    traced = attempt("trace eval ok", 1.4)
    named = "Trace it, if you can rule out what it gets wrong: m.py:9: a constant of a size (TSG208)"
    speed = "On the inputs tried it is equal to eager and 1.40x [1.38, 1.42] in eval on cpu."
    assert said(EAGER, traced, findings=(HAZARD,)) == f"{named}. {speed}"
    assert said(EAGER, traced, findings=(HAZARD, HAZARD)) == f"{named}, and 1 more. {speed}"
    level = attempt("trace eval ok", 1.0)
    assert said(EAGER, level, findings=(HAZARD,)) == (
        "It works with trace, but gets some inputs wrong (m.py:9: a constant of a size (TSG208)), and is "
        "not faster (trace 1.00x [0.98, 1.02] in eval on cpu): use it to deploy without Python, not for speed."
    )


@pytest.mark.parametrize(
    "attempts",
    [
        [FASTER, attempt("trace eval ok", 1.7)],
        [FASTER, attempt("onednn eval ok", 3.0)],
        [FASTER, attempt("freeze eval ok", 2.0), attempt("trace eval ok", 1.0)],
        [FASTER, attempt("script train ok", 0.9), attempt("trace train ok", 1.4)],
        [attempt("script eval ok", 1.0), attempt("trace eval ok", 1.0)],
        [attempt("compile eval ok", 2.0), attempt("trace eval ok", 1.0)],
    ],
)
def test_another_way_is_preferred_to_a_trace_that_gets_something_wrong(attempts: list[Attempt]) -> None:
    told = answer(Facts(attempts=(EAGER, *attempts), findings=(HAZARD,)))
    assert told.minded == ()
    assert {a.backend for a in told.use} <= {"script", "freeze", "compile"}


def test_a_script_that_is_broken_is_named_as_such() -> None:
    assert said(EAGER, FASTER, script="broken", findings=(blocker(),)).startswith(
        "Script it, if you can rule out what it gets wrong: m.py:7: a lambda does not compile (TSG148). On the"
    )


def test_a_trace_without_a_tensor_is_a_constant() -> None:
    assert said(EAGER, attempt("trace eval ok", 2.0), tensors=False) == (
        "Leave it eager: it takes no tensor, so a trace of it is a constant."
    )


def test_what_is_missing_is_asked_for() -> None:
    error = AttemptError("TypeError", "missing argument")
    lacking = Stopped("when it is constructed", error, "no constructor arguments were found: give them")
    assert said(stopped=lacking) == "Not called, no constructor arguments were found: give them."
    failing = Stopped("at import", AttemptError("ImportError", "no module x", "m.py", 1))
    assert said(stopped=failing) == "Not called, it fails at import: m.py:1: no module x."
    misspelt = Stopped("when it is called", AttemptError("TypeError", "no maks"), of_inputs=True)
    assert said(stopped=misspelt, given=True) == "Check the inputs that you gave: no maks."
    assert said(stopped=misspelt) == "It fails when it is called: no maks."


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (AttemptError("ValueError", "", "m.py", 7), "m.py:7: ValueError"),
        (AttemptError("KeyError", "'zz'", "m.py", 7), "m.py:7: KeyError: 'zz'"),
        (AttemptError("SystemExit", "3"), "SystemExit: 3"),
        (AttemptError("ValueError", "no such size"), "no such size"),
    ],
)
def test_what_one_word_does_not_say_its_type_does(error: AttemptError, text: str) -> None:
    assert said(stopped=Stopped("at import", error)) == f"Not called, it fails at import: {text}."


TRAINED = attempt("eager train ok")
NO_SPEED = "no speed was measured"


@pytest.mark.parametrize(
    ("attempts", "text"),
    [
        (
            [attempt("script eval ok"), attempt("script train ok")],
            f"It works with script; {NO_SPEED}.",
        ),
        (
            [attempt("trace eval ok"), attempt("trace train diverged", error="a buffer differs")],
            f"It works with trace in eval; {NO_SPEED}. Do not trace it in train on cpu: m.py:7: a buffer differs.",
        ),
        (
            [attempt("trace eval ok"), attempt("trace train failed", error="it is refused")],
            f"It works with trace in eval; {NO_SPEED}. In train on cpu trace fails: m.py:7: it is refused.",
        ),
        (
            [attempt("script eval ok"), attempt("script train failed", error="an overflow")],
            f"It works with script in eval; {NO_SPEED}. In train on cpu script fails: m.py:7: an overflow.",
        ),
        (
            [attempt("script eval ok"), attempt("script train ok"), attempt("trace eval ok")],
            f"It works with script, and with trace in eval; {NO_SPEED}.",
        ),
    ],
)
def test_what_works_in_one_mode_only(attempts: list[Attempt], text: str) -> None:
    assert said(EAGER, TRAINED, *attempts) == text


def test_what_cannot_be_saved_is_named_whole() -> None:
    parts = [
        attempt(f"{name} eval ok", saved=False, note="cannot be saved: no") for name in ("script", "trace")
    ]
    assert said(EAGER, *parts).endswith("The script and the trace result cannot be saved: no.")
