"""The answer cannot contradict the facts, whatever they are."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, example, find, given, settings

from tests.answer.facts import INTERNAL, TORCH, facts, speedups
from tsguard.answer.deciding import answer
from tsguard.answer.facts import Facts
from tsguard.answer.making import hazards, is_portable, may_trace, way
from tsguard.answer.speed import conclusion, ratio
from tsguard.report import Speedup

SPEED = re.compile(r"\d+\.\d+x \[\d+\.\d+, \d+\.\d+\]")
MANY = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


# The tests below ask whether an answer has one of these: there are facts for which it has.
PHRASES = (
    "is not faster",
    "without Python",
    "To script it: ",
    "First repair, for script: ",
    "Scripting fails besides: ",
    "Check the inputs that you gave",
)


@pytest.mark.parametrize("phrase", PHRASES)
def test_what_is_looked_for_is_said(phrase: str) -> None:
    looking = settings(max_examples=20_000, derandomize=True, phases=[Phase.generate])
    assert find(facts(), lambda known: phrase in answer(known).text, settings=looking)


def devices(known: Facts) -> set[str]:
    return {a.device for a in known.attempts}


@MANY
@given(facts())
def test_what_is_recommended_was_attempted_worked_and_agreed(known: Facts) -> None:
    for used in answer(known).use:
        assert used in known.attempts
        assert used.status == "ok"
        assert used.backend != "eager"
        assert used.parity is None or used.parity.ok


@MANY
@given(facts())
def test_nothing_is_recommended_of_what_never_ran(known: Facts) -> None:
    eager = [a for a in known.attempts if a.backend == "eager"]
    told = answer(known)
    if known.stopped is not None or all(a.status != "ok" for a in eager):
        assert told.use == ()
        assert told.kind in ("needs", "inputs", "repair")


@MANY
@given(facts())
def test_a_trace_is_recommended_only_where_no_trace_went_wrong(known: Facts) -> None:
    for used in answer(known).use:
        if may_trace(used, known):
            assert known.tensors
            beside = [
                a.status
                for a in known.attempts
                if (a.device, a.mode, a.dtype) == (used.device, used.mode, used.dtype)
                and way(a, known) == "trace"
            ]
            assert set(beside) <= {"ok", "skipped"}


@MANY
@given(facts())
def test_what_diverges_in_inference_is_not_recommended_for_training(known: Facts) -> None:
    for used in answer(known).use:
        inference = [
            a.status
            for a in known.attempts
            if (a.backend, a.device, a.mode, a.dtype) == (used.backend, used.device, "eval", used.dtype)
        ]
        assert "diverged" not in inference


@MANY
@given(facts())
def test_a_program_is_recommended_only_where_torch_exports_it_rightly_at_all(known: Facts) -> None:
    for used in answer(known).use:
        if used.backend in ("export", "export_dynamic", "aot_inductor"):
            beside = [
                a.status
                for a in known.attempts
                if (a.backend, a.device, a.mode) == ("export", used.device, used.mode)
            ]
            assert set(beside) <= {"ok", "skipped"}


@MANY
@given(facts())
def test_what_holds_the_examples_sizes_is_never_recommended_for_others(known: Facts) -> None:
    told = answer(known)
    for used in told.use:
        dynamic = [
            a.status
            for a in known.attempts
            if (a.backend, a.device, a.mode) == ("export_dynamic", used.device, used.mode)
        ]
        if used.backend in ("export", "aot_inductor") and set(dynamic) & {"failed", "diverged"}:
            assert "for the example's sizes only" in told.text


@MANY
@given(facts())
def test_a_hazard_is_named_before_any_speed(known: Facts) -> None:
    told = answer(known)
    for used in told.use:
        against = hazards(used, known)
        if against and used.mode == told.use[0].mode:
            assert set(against) <= set(told.minded)
    if told.minded and len(devices(known)) == 1:
        speed = SPEED.search(told.text)
        named = told.text.index(told.minded[0].message)
        assert speed is None or named < speed.start()


@MANY
@given(facts())
def test_every_speed_that_is_told_was_measured(known: Facts) -> None:
    measured = {ratio(a.speedup) for a in known.attempts if a.speedup is not None}
    assert set(SPEED.findall(answer(known).text)) <= measured


@MANY
@given(facts())
def test_no_time_is_gained_only_by_what_an_interval_shows_to_be_level(known: Facts) -> None:
    told = answer(known)
    level = [a for a in known.attempts if a.speedup and a.speedup.conclusion == "no difference"]
    if "is not faster" in told.text:
        assert level
    if told.kind == "works" and len(devices(known)) == 1:
        for used in told.use:
            assert used.speedup is None or used.speedup.conclusion in ("no difference", "too noisy")


@MANY
@given(facts())
def test_what_is_faster_and_right_is_never_left(known: Facts) -> None:
    told = answer(known)
    wrong_in_inference = {
        (a.backend, a.device, a.dtype) for a in known.attempts if a.mode == "eval" and a.status == "diverged"
    }
    faster = [
        a
        for a in known.attempts
        if a.backend in ("script", "compile")
        and a.speedup
        and a.speedup.conclusion == "faster"
        and (a.backend, a.device, a.dtype) not in wrong_in_inference
    ]
    eager = [a for a in known.attempts if a.backend == "eager"]
    if faster and known.stopped is None and any(a.status == "ok" for a in eager):
        assert told.kind in ("use", "works") or len(devices(known)) > 1
        assert {a.device for a in faster} <= {a.device for a in told.use}


@MANY
@given(facts())
def test_without_python_only_for_what_runs_without_python(known: Facts) -> None:
    told = answer(known)
    if "without Python" in told.text and len(devices(known)) == 1:
        assert all(is_portable(a, known) for a in told.use)
        assert not {a.backend for a in told.use} & {"compile", "export", "export_dynamic", "onednn"}


@MANY
@given(facts())
def test_the_linter_is_quoted_where_it_knows_why_torch_refuses(known: Facts) -> None:
    text = answer(known).text
    assert "INTERNAL ASSERT" not in text
    if any(f.family == "script" and f.severity == "error" for f in known.findings):
        for sentence in ("To script it: ", "First repair, for script: ", "Scripting fails besides: "):
            if sentence in text:
                assert "the script finding" in text.partition(sentence)[2][:60]


@MANY
@given(facts())
def test_torchs_own_failures_are_called_that(known: Facts) -> None:
    errors = [a.error for a in known.attempts if a.error is not None]
    errors += [known.stopped.error] if known.stopped is not None else []
    if errors and all(error.message == INTERNAL for error in errors):
        assert TORCH not in answer(known).text


@MANY
@given(facts())
def test_the_users_mistake_is_not_the_modules(known: Facts) -> None:
    eager = [a for a in known.attempts if a.backend == "eager"]
    if known.stopped is None and all(a.status != "ok" for a in eager):
        told = answer(known)
        assert told.kind == ("inputs" if known.given else "repair")
        assert ("Check the inputs that you gave" in told.text) == known.given


@MANY
@given(facts())
def test_it_is_always_something_and_always_the_same(known: Facts) -> None:
    told = answer(known)
    assert told.text.strip()
    assert told == answer(replace(known))
    assert all(sentence.endswith(".") for sentence in told.sentences)


@settings(max_examples=1000, deadline=None)
@example(Speedup(1.1, 0.9, 1.12 - 1e-15, rounds=8, conclusion=conclusion(1.1, 0.9, 1.12 - 1e-15)))
@given(speedups())
def test_the_words_follow_from_the_printed_numbers(measured: Speedup) -> None:
    printed = ratio(measured)
    median, low, high = map(float, re.findall(r"\d+\.\d+", printed))
    assert conclusion(median, low, high) == measured.conclusion
    assert low <= median <= high
