"""A rule fires from the release to the release that its page says, and not beyond."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.pages import Example, examples_of_all_releases
from tsguard import rules
from tsguard.language.releases import allows
from tsguard.language.tables import RELEASES
from tsguard.linting.run import lint
from tsguard.settings.config import Settings
from tsguard.settings.requests import parse, plan

BOUNDED = [
    example
    for code in rules.pages()
    for example in examples_of_all_releases(code)
    if example.kind == "bad" and example.torch != ">=2.2"
]


def ends(example: Example) -> list[str]:
    """The releases beside which the answer changes, on both sides."""
    within = [allows(example.torch, release) for release in RELEASES]
    changes = [n for n in range(1, len(within)) if within[n] != within[n - 1]]
    return [RELEASES[n + side] for n in changes for side in (-1, 0)]


@pytest.mark.parametrize(
    ("example", "release"),
    [(example, release) for example in BOUNDED for release in ends(example)],
    ids=lambda value: value if isinstance(value, str) else value.id,
)
def test_a_rule_fires_within_its_bounds_only(example: Example, release: str, tmp_path: Path):
    purpose = "export" if example.rule.family == "export" else "trace"
    settings = Settings(root=tmp_path, torch_version=release, jobs=1, cache=False, purpose=purpose)
    file = str(example.write(tmp_path))
    # What misuses torch.jit belongs to no target.
    asked = file if example.rule.family == "api" else f"{file}:{example.target}"
    report, _ = lint(plan([parse(asked, settings)], settings), settings)
    found = {(finding.code, finding.line) for finding in report.findings} & example.marks
    assert found == (example.marks if allows(example.torch, release) else set())


def test_there_are_rules_that_do_not_hold_for_every_release():
    assert BOUNDED


@pytest.mark.parametrize(
    ("bounds", "release", "within"),
    [
        (">=2.2", "2.2", True),
        (">=2.3", "2.2", False),
        (">=2.2,<2.10", "2.9", True),
        (">=2.2,<2.10", "2.10", False),
    ],
)
def test_bounds_compare_releases_by_number(bounds: str, release: str, within: bool):
    assert allows(bounds, release) is within


def test_what_is_no_bound_is_refused():
    with pytest.raises(ValueError, match="no bound"):
        allows("2.2", "2.2")
