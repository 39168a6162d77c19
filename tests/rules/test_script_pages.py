"""The script pages are true: tsguard finds what they mark, and torch does what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.on_torch import TorchProcess
from tests.rules.pages import Example, examples, is_worded, linted, names_in

EXAMPLES = examples("script")
NAMES = names_in("script")


def every(kind: str, *outcomes: str) -> pytest.MarkDecorator:
    chosen = [e for e in EXAMPLES if e.kind == kind and (not outcomes or e.rule.outcome in outcomes)]
    return pytest.mark.parametrize("example", chosen, ids=lambda example: example.id)


@every("bad")
def test_the_marked_lines_are_found_and_no_others(example: Example):
    assert example.code in {code for code, _ in example.marks}
    assert linted(example).places("script") == example.marks


@every("good")
def test_nothing_is_found_in_the_repaired_code(example: Example):
    found = linted(example)
    assert found.places("script") == set()
    assert found.target.script.verdict == "ok"


@every("bad", "blocked")
def test_torch_refuses_it_there_with_the_quoted_words(
    example: Example, tmp_path: Path, torch_process: TorchProcess
):
    assert linted(example).target.script.verdict in ("blocked", "depends")
    seen = torch_process.observe("script", example.write(tmp_path), example.target)
    assert seen["error"] is not None
    assert example.quotes
    assert [line for line in example.quoted_lines if line not in seen["error"]] == []
    # Torch does not give the place of everything that it refuses.
    assert not seen["lines"] or {line for _, line in example.marks} & set(seen["lines"])


@every("bad", "broken")
def test_torch_scripts_it_and_then_it_breaks(example: Example, tmp_path: Path, torch_process: TorchProcess):
    assert linted(example).target.script.verdict in ("broken", "depends")
    seen = torch_process.observe("script", example.write(tmp_path), example.target)
    assert seen["error"] is None
    calls = seen["calls"].values()
    assert not all(call["equal"] for call in calls)
    assert not any(call["eager"] for call in calls)
    said = "\n".join(call["scripted"] or "" for call in calls)
    assert [line for line in example.quoted_lines if line not in said] == []


@every("good")
def test_torch_scripts_the_repaired_code_and_it_equals_eager(
    example: Example, tmp_path: Path, torch_process: TorchProcess
):
    seen = torch_process.observe("script", example.write(tmp_path), example.target)
    assert seen["error"] is None
    for call in seen["calls"].values():
        assert call == {"eager": None, "scripted": None, "equal": True}


@pytest.mark.parametrize("name", NAMES)
def test_a_bad_example_shows_every_wording(name: str):
    assert is_worded(name, EXAMPLES, lambda e: linted(e).findings("script"))
