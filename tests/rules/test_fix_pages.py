"""What the pages call bad is fixed where they say so: lint is content then, and so is torch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.rules.on_torch import TorchProcess
from tests.rules.pages import Example, examples_of
from tests.torch_here import RELEASE
from tsguard import rules
from tsguard.config import Settings
from tsguard.fixing import Fixed, fix
from tsguard.linting import lint
from tsguard.requests import parse, plan

FIXABLE = [rule for rule in rules.all_rules() if rule.fix != "none"]
BAD = [example for rule in FIXABLE for example in examples_of(rule.code) if example.kind == "bad"]
# These are repaired by hand.
BY_HAND = {"TSG112-bad-2", "TSG415-bad-3", "TSG415-bad-4"}
INPUTS = "def example_inputs"

every = pytest.mark.parametrize("example", [e for e in BAD if e.id not in BY_HAND], ids=lambda e: e.id)
compiled = pytest.mark.parametrize(
    "example", [e for e in BAD if e.id not in BY_HAND and e.rule.family == "script"], ids=lambda e: e.id
)
by_api = pytest.mark.parametrize(
    "example", [e for e in BAD if e.id not in BY_HAND and e.rule.family == "api"], ids=lambda e: e.id
)


@dataclass(frozen=True)
class Tried:
    """An example in a file of its own, and how to lint it."""

    example: Example
    path: Path

    @property
    def settings(self) -> Settings:
        return Settings(root=self.path.parent, torch_version=RELEASE, jobs=1, cache=False)

    @property
    def target(self) -> str:
        # Findings of other families belong to files, not to targets.
        whole = self.example.rule.family != "script"
        return str(self.path) if whole else f"{self.path}:{self.example.target}"

    def fix(self) -> Fixed:
        asked = plan([parse(self.target, self.settings)], self.settings)
        return fix(asked, self.settings, unsafe=True)


@pytest.fixture
def tried(example: Example, tmp_path: Path) -> Tried:
    return Tried(example, example.write(tmp_path))


@every
def test_the_finding_goes_and_no_other_comes(tried: Tried):
    done = tried.fix()
    assert done.report.fixed >= 1
    assert not done.report.errors
    assert [f.message for f in done.report.findings if f.family in ("tool", "script", "api")] == []


@every
def test_a_second_time_changes_nothing(tried: Tried):
    tried.fix()
    once = tried.path.read_bytes()
    again = tried.fix()
    assert (again.report.fixed, again.changes) == (0, {})
    assert tried.path.read_bytes() == once


@compiled
def test_torch_scripts_it_and_eager_does_as_before(tried: Tried, torch_process: TorchProcess):
    before = tried.path.with_name("before.py")
    before.write_bytes(tried.path.read_bytes())
    tried.fix()
    _give_inputs(tried)
    seen = torch_process.observe("script", tried.path, tried.example.target)
    assert seen["error"] is None
    assert list(seen["calls"].values()) == [{"eager": None, "scripted": None, "equal": True}]
    seen = torch_process.observe("eager", before, f"{tried.path}:{tried.example.target}")
    assert seen == {"calls": 1, "errors": [], "equal": True}


def _give_inputs(tried: Tried) -> None:
    """What torch refuses has no inputs on its page: those of the repaired code serve it too."""
    text = tried.path.read_text()
    if INPUTS not in text:
        same = (e.text for e in examples_of(tried.example.code) if e.target == tried.example.target)
        made = next(text for text in same if INPUTS in text).partition(INPUTS)[2]
        tried.path.write_text(f"{text}\n\nimport torch\n\n\n{INPUTS}{made}")


@by_api
def test_torch_has_nothing_against_it(tried: Tried, torch_process: TorchProcess):
    tried.fix()
    seen = torch_process.observe("api", tried.path, tried.example.code)
    assert seen == {"error": None, "shown": False}


@pytest.mark.parametrize("rule", FIXABLE, ids=lambda rule: rule.code)
def test_the_page_says_whether_fixes_are_safe(rule: rules.Rule, tmp_path: Path):
    tries = [Tried(example, example.write(tmp_path)) for example in BAD if example.rule == rule]
    reports = [lint(plan([parse(t.target, t.settings)], t.settings), t.settings)[0] for t in tries]
    fixes = {f.fix.applicability for r in reports for f in r.findings if f.fix and f.code == rule.code}
    assert ("safe" if "safe" in fixes else "unsafe") == rule.fix


@pytest.mark.parametrize("example", [e for e in BAD if e.id in BY_HAND], ids=lambda e: e.id)
def test_what_has_no_fix_is_left_as_it_is(tried: Tried):
    assert tried.fix().changes == {}
    assert tried.path.read_text() == tried.example.text
