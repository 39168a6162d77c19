"""The API pages are true: tsguard finds what they mark, and torch does what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.on_torch import TorchProcess
from tests.rules.pages import Example, examples, found, is_worded, names_in

EXAMPLES = examples("api")
NAMES = names_in("api")


def every(kind: str) -> pytest.MarkDecorator:
    chosen = [example for example in EXAMPLES if example.kind == kind]
    return pytest.mark.parametrize("example", chosen, ids=lambda example: example.id)


@every("bad")
def test_the_marked_lines_are_found_and_no_others(example: Example):
    assert example.code in {code for code, _ in example.marks}
    assert {(finding.code, finding.line) for finding in found(example, "api")} == example.marks


@every("good")
def test_nothing_is_found_in_the_repaired_code(example: Example):
    assert found(example, "api") == []


@every("bad")
def test_what_the_page_says_happens(example: Example, tmp_path: Path, torch_process: TorchProcess):
    seen = torch_process.observe("api", example.write(tmp_path), example.code)
    assert seen["shown"] is True
    assert bool(example.quotes) == bool(seen["error"]), seen["error"]
    assert [line for line in example.quoted_lines if line not in (seen["error"] or "")] == []


@every("bad")
def test_what_fails_is_an_error_and_what_may_is_none(example: Example):
    assert example.rule.severity in ({"error"} if example.quotes else {"info", "warning"})


@every("good")
def test_it_does_not_happen_in_the_repaired_code(
    example: Example, tmp_path: Path, torch_process: TorchProcess
):
    seen = torch_process.observe("api", example.write(tmp_path), example.code)
    assert seen == {"error": None, "shown": False}


@pytest.mark.parametrize("name", NAMES)
def test_a_bad_example_shows_every_wording(name: str):
    assert is_worded(name, EXAMPLES, lambda e: found(e, "api"))
