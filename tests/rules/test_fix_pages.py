"""What the pages call bad is fixed where they say so: lint is content then, and so is torch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.rules.on_torch import TorchProcess
from tests.rules.pages import Example, examples_of
from tests.torch_here import RELEASE
from tsguard import rules
from tsguard.language.releases import allows
from tsguard.linting.run import lint
from tsguard.repairing.fixing import Fixed, fix
from tsguard.settings.config import Settings
from tsguard.settings.requests import parse, plan

FIXABLE = [rule for rule in rules.all_rules() if rule.fix != "none"]
BAD = [example for rule in FIXABLE for example in examples_of(rule.code) if example.kind == "bad"]
# These are repaired by hand.
BY_HAND = {
    "TSG104-bad-3",
    "TSG107-bad-1",
    "TSG107-bad-2",
    "TSG107-bad-3",
    "TSG104-bad-4",
    "TSG104-bad-5",
    "TSG104-bad-6",
    "TSG104-bad-8",
    "TSG104-bad-9",
    "TSG201-bad-4",
    "TSG183-bad-2",
    "TSG183-bad-3",
    "TSG161-bad-8",  # from torch 2.15 on
    "TSG161-bad-9",
    "TSG1001-bad-1",
    "TSG114-bad-2",
    "TSG115-bad-5",
    "TSG115-bad-6",
    "TSG115-bad-7",
    "TSG118-bad-2",
    "TSG118-bad-3",
    "TSG118-bad-4",
    "TSG118-bad-5",
    "TSG120-bad-3",
    "TSG122-bad-3",
    "TSG172-bad-5",
    "TSG172-bad-6",
    "TSG187-bad-1",
    "TSG187-bad-2",
    "TSG188-bad-2",
    "TSG123-bad-1",
    "TSG123-bad-3",
    "TSG123-bad-4",
    "TSG124-bad-5",
    "TSG125-bad-2",
    "TSG125-bad-3",
    "TSG125-bad-4",
    "TSG103-bad-5",
    "TSG126-bad-3",
    "TSG130-bad-2",
    "TSG131-bad-1",
    "TSG131-bad-2",
    "TSG131-bad-3",
    "TSG131-bad-4",
    "TSG134-bad-2",
    "TSG134-bad-3",
    "TSG171-bad-3",
    "TSG171-bad-4",
    "TSG132-bad-1",
    "TSG132-bad-2",
    "TSG132-bad-3",
    "TSG136-bad-2",
    "TSG136-bad-3",
    "TSG136-bad-4",
    "TSG138-bad-2",
    "TSG137-bad-1",
    "TSG137-bad-3",
    "TSG137-bad-4",
    "TSG137-bad-5",
    "TSG139-bad-2",
    "TSG140-bad-2",
    "TSG142-bad-2",
    "TSG191-bad-1",
    "TSG191-bad-2",
    "TSG191-bad-3",
    "TSG191-bad-5",
    "TSG143-bad-2",
    "TSG145-bad-1",
    "TSG145-bad-2",
    "TSG145-bad-3",
    "TSG145-bad-4",
    "TSG145-bad-5",
    "TSG145-bad-6",
    "TSG149-bad-2",
    "TSG152-bad-2",
    "TSG152-bad-3",
    "TSG152-bad-4",
    "TSG152-bad-5",
    "TSG152-bad-7",
    "TSG153-bad-10",
    "TSG153-bad-4",
    "TSG153-bad-5",
    "TSG153-bad-6",
    "TSG156-bad-1",
    "TSG156-bad-2",
    "TSG157-bad-3",
    "TSG157-bad-4",
    "TSG158-bad-2",
    "TSG158-bad-4",
    "TSG158-bad-6",
    "TSG159-bad-1",
    "TSG159-bad-2",
    "TSG160-bad-2",
    "TSG161-bad-4",
    "TSG161-bad-5",
    "TSG161-bad-6",
    "TSG161-bad-7",
    "TSG166-bad-1",
    "TSG166-bad-2",
    "TSG166-bad-3",
    "TSG167-bad-5",
    "TSG168-bad-2",
    "TSG168-bad-3",
    "TSG169-bad-2",
    "TSG169-bad-3",
    "TSG170-bad-2",
    "TSG170-bad-4",
    "TSG170-bad-8",
    "TSG170-bad-9",
    "TSG172-bad-3",
    "TSG172-bad-4",
    "TSG179-bad-1",
    "TSG179-bad-2",
    "TSG179-bad-3",
    "TSG179-bad-4",
    "TSG179-bad-6",
    "TSG179-bad-7",
    "TSG179-bad-8",
    "TSG179-bad-9",
    "TSG182-bad-1",
    "TSG174-bad-3",
    "TSG177-bad-2",
    "TSG189-bad-1",
    "TSG189-bad-2",
    "TSG189-bad-3",
    "TSG190-bad-4",
    "TSG190-bad-5",
    "TSG190-bad-6",
    "TSG190-bad-7",
    "TSG190-bad-8",
    "TSG196-bad-2",
    "TSG199-bad-3",
    "TSG199-bad-5",
    "TSG199-bad-7",
    "TSG201-bad-2",
    "TSG208-bad-3",
    "TSG208-bad-4",
    "TSG208-bad-5",
    "TSG208-bad-6",
    "TSG208-bad-7",
    "TSG208-bad-8",
    "TSG208-bad-9",
    "TSG415-bad-4",
    "TSG118-bad-6",
    "TSG122-bad-5",
    "TSG132-bad-6",
    "TSG136-bad-5",
    "TSG137-bad-6",
    "TSG138-bad-3",
    "TSG153-bad-11",
    "TSG157-bad-5",
    "TSG167-bad-6",
    "TSG169-bad-4",
    "TSG193-bad-2",
    "TSG112-bad-3",
    "TSG139-bad-3",
    "TSG170-bad-10",
}
if allows("<2.3", RELEASE):
    BY_HAND |= {"TSG115-bad-2", "TSG115-bad-8"}  # their annotations are text
# Eager raises in these, or gives a torch.Size where compiled code gives a list.
BROKEN = {"TSG103-bad-4", "TSG171-bad-2", "TSG111-bad-2", "TSG115-bad-3", "TSG136-bad-1", "TSG177-bad-1"}
BROKEN |= {"TSG124-bad-1"}
INPUTS = "def example_inputs"
# Of an API example all that it defines is called; of modules with random weights the shape counts.
CALLED = """


def called(x):
    own = [v for k, v in globals().items() if getattr(v, "__module__", "") == __name__ and k not in GIVING]
    made = [v() if isinstance(v, type) else v for v in own]
    return [f(x) for f in made] + ([scripted(x) * 0] if "scripted" in globals() else [])


GIVING = ("called", "example_inputs")


def example_inputs():
    return (torch.ones(2, 4),)
"""
# Where the page's own inputs are for other code.
MADE = {
    "TSG104-bad-7": "torch.randn(2, 4)",
    "TSG155-bad-2": "torch.randn(2, 4)",
    "TSG182-bad-2": "torch.randn(2, 8)",
    "TSG105-bad-1": "torch.randn(2, 8)",
    "TSG1001-bad-2": "torch.randn(2, 3, 4)",
    "TSG132-bad-5": "[torch.randn(2, 8), torch.randn(2, 8)]",
    "TSG156-bad-3": "[torch.randn(2, 3)]",
    "TSG121-bad-2": "torch.randn(2, 8)",
    "TSG122-bad-4": "torch.randn(2, 8)",
    "TSG170-bad-6": "torch.randn(2, 8)",
    "TSG170-bad-7": "torch.randn(2, 8)",
    "TSG111-bad-2": "torch.zeros(1, 3, 4, 6)",
    "TSG112-bad-2": "torch.zeros(2, 3), 1",
    "TSG115-bad-3": "torch.randn(2, 8)",
    "TSG115-bad-4": "torch.randn(2, 8)",
    "TSG115-bad-9": "torch.randn(2, 8)",
    "TSG120-bad-2": "torch.randn(2, 3), torch.randn(2, 3)",
    "TSG120-bad-4": "torch.randn(2, 3), torch.ones(2, 3) > 0",
    "TSG127-bad-2": "torch.randn(2, 3, 4)",
    "TSG130-bad-1": "torch.randn(2, 3, 4), torch.ones(2, 3, 4)",
    "TSG159-bad-3": "torch.randn(2, 3)",
    "TSG166-bad-4": "torch.randn(2, 3)",
    "TSG153-bad-1": "torch.randn(2, 8)",
}

every = pytest.mark.parametrize("example", [e for e in BAD if e.id not in BY_HAND], ids=lambda e: e.id)
compiled = pytest.mark.parametrize(
    "example", [e for e in BAD if e.id not in BY_HAND and e.rule.family == "script"], ids=lambda e: e.id
)
traced = pytest.mark.parametrize(
    "example", [e for e in BAD if e.id not in BY_HAND and e.rule.family == "trace"], ids=lambda e: e.id
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
        whole = self.example.rule.family not in ("script", "trace")
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
    others = [f for f in done.report.findings if f.family in ("tool", "script", "api")]
    assert [f.message for f in others if rules.rule(f.code).outcome != "unsaveable"] == []


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
    if tried.example.id in BROKEN:
        seen = torch_process.observe("script", tried.path, tried.example.target)
        assert seen["error"] is None
        return
    _give_inputs(tried)
    seen = torch_process.observe("script", tried.path, tried.example.target)
    assert seen["error"] is None
    assert list(seen["calls"].values()) == [{"eager": None, "scripted": None, "equal": True}]
    seen = torch_process.observe("eager", before, f"{tried.path}:{tried.example.target}")
    assert seen == {"calls": 1, "errors": [], "equal": True}


def _give_inputs(tried: Tried) -> None:
    """What torch refuses has no inputs on its page: those of the repaired code serve it too."""
    text = tried.path.read_text()
    if tried.example.id in MADE:
        body = f"():\n    return ({MADE[tried.example.id]},)\n"
        tried.path.write_text(f"{text}\n\nimport torch\n\n\n{INPUTS}{body}")
    elif INPUTS not in text:
        same = (e.text for e in examples_of(tried.example.code) if e.target == tried.example.target)
        made = next(text for text in same if INPUTS in text).partition(INPUTS)[2]
        tried.path.write_text(f"{text}\n\nimport torch\n\n\n{INPUTS}{made}")


@traced
def test_a_trace_of_it_agrees_with_eager(tried: Tried, torch_process: TorchProcess):
    before = tried.path.with_name("before.py")
    before.write_bytes(tried.path.read_bytes())
    done = tried.fix()
    left = [f for f in done.report.findings if f.family == "trace" and f.code == tried.example.code]
    assert left == []
    seen = torch_process.observe("trace", tried.path, tried.example.target)
    assert seen["error"] is None
    assert [text for line, text in seen["warnings"] if line] == []
    random = "rand(" in tried.path.read_text()
    assert random or all(call["equal"] for call in seen["calls"].values())
    seen = torch_process.observe("eager", before, f"{tried.path}:{tried.example.target}")
    assert seen["equal"]


@by_api
def test_what_it_defines_does_as_before(tried: Tried, torch_process: TorchProcess):
    """Functions and modules of an example that Python can import as it was."""
    before = tried.path.with_name("before.py")
    before.write_bytes(tried.path.read_bytes())
    tried.fix()
    if torch_process.observe("api", before, tried.example.code)["error"] is not None:
        return
    for path in (before, tried.path):
        path.write_text(f"{path.read_text()}{CALLED}")
    seen = torch_process.observe("eager", before, f"{tried.path}:called")
    assert seen == {"calls": 1, "errors": [], "equal": True}


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
