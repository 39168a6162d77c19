"""The API pages are true: tsguard finds what they mark, and torch does what they say."""

from __future__ import annotations

import functools
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.rules.on_torch import TorchProcess
from tests.rules.pages import Example, examples, reported_names, wording
from tests.torch_here import RELEASE
from tsguard import rules
from tsguard.linting.run import lint
from tsguard.report import Finding
from tsguard.settings.config import Settings
from tsguard.settings.requests import parse, plan

EXAMPLES = examples("api")
NAMES = sorted(
    name for name in reported_names() if rules.rule(name).family == "api" and rules.holds(name, RELEASE)
)


def every(kind: str) -> pytest.MarkDecorator:
    chosen = [example for example in EXAMPLES if example.kind == kind]
    return pytest.mark.parametrize("example", chosen, ids=lambda example: example.id)


@functools.cache
def found(example: Example) -> list[Finding]:
    """The findings of the family in the whole file."""
    with TemporaryDirectory() as name:
        settings = Settings(root=Path(name), torch_version=RELEASE, jobs=1, cache=False)
        request = parse(str(example.write(Path(name))), settings)
        report, _ = lint(plan([request], settings), settings)
    assert not [finding for finding in report.findings if finding.family == "tool"]
    return [finding for finding in report.findings if finding.family == "api"]


@every("bad")
def test_the_marked_lines_are_found_and_no_others(example: Example):
    assert example.code in {code for code, _ in example.marks}
    assert {(finding.code, finding.line) for finding in found(example)} == example.marks


@every("good")
def test_nothing_is_found_in_the_repaired_code(example: Example):
    assert found(example) == []


@every("bad")
def test_what_the_page_says_happens(example: Example, tmp_path: Path, torch_process: TorchProcess):
    seen = torch_process.observe("api", example.write(tmp_path), example.code)
    assert seen["shown"] is True
    assert bool(example.quotes) == bool(seen["error"]), seen["error"]
    assert [line for line in example.quoted_lines if line not in (seen["error"] or "")] == []


@every("bad")
def test_what_fails_is_an_error_and_what_may_is_none(example: Example):
    severity = "error" if example.quotes else "info or warning"
    assert example.rule.severity in severity


@every("good")
def test_it_does_not_happen_in_the_repaired_code(
    example: Example, tmp_path: Path, torch_process: TorchProcess
):
    seen = torch_process.observe("api", example.write(tmp_path), example.code)
    assert seen == {"error": None, "shown": False}


@pytest.mark.parametrize("name", NAMES)
def test_a_bad_example_shows_every_wording(name: str):
    rule, variant = rules.rule(name), name.partition("/")[2]
    bad = [example for example in EXAMPLES if example.rule == rule and example.kind == "bad"]
    said = [finding.message for e in bad for finding in found(e) if finding.code == rule.code]
    assert any(wording(rule, variant).fullmatch(message) for message in said)
