"""The mode pages are true: tsguard finds what they mark, and torch behaves as they say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.rules.on_torch import TorchProcess
from tests.rules.pages import Example, examples, is_worded, linted, names_in

EXAMPLES = examples("mode")
# The wording for code of other packages is tested where there are other packages: test_mode.py.
ELSEWHERE = {f"mode-dependent-layer/dependency{kind}" for kind in ("", "-random", "-state")}
NAMES = [name for name in names_in("mode") if name not in ELSEWHERE]

Seen = dict[str, Any]


def only_in_train(seen: Seen) -> bool:
    """train() and eval() differ, and eval() itself neither draws nor remembers."""
    if seen["random"]["eval"] or seen["updates"]["eval"]:
        return False
    return bool(seen["differ"] or seen["random"]["train"] or seen["updates"]["train"])


def train_in_eval(seen: Seen) -> bool:
    """eval() does what a layer does in training."""
    return bool(seen["random"]["eval"] or seen["updates"]["eval"])


CLAIMS: dict[str, Callable[[Seen], bool]] = {
    "TSG301": only_in_train,
    "TSG302": only_in_train,
    "TSG303": only_in_train,
    "TSG304": lambda seen: seen["random"]["eval"],
    "TSG305": train_in_eval,
    "TSG306": lambda seen: seen["random"]["eval"],
    "TSG307": lambda seen: seen["updates"]["eval"],
    "TSG308": lambda seen: seen["thawed"],
    "TSG309": lambda seen: not seen["eval_returns"],
}


def every(kind: str) -> pytest.MarkDecorator:
    chosen = [example for example in EXAMPLES if example.kind == kind]
    return pytest.mark.parametrize("example", chosen, ids=lambda example: example.id)


@every("bad")
def test_the_marked_lines_are_found_and_no_others(example: Example):
    assert example.code in {code for code, _ in example.marks}
    assert linted(example).places("mode") == example.marks


@every("bad")
def test_the_verdict_is_what_the_rule_means(example: Example):
    if example.rule.outcome:
        assert linted(example).target.mode.verdict == example.rule.outcome


@every("good")
def test_the_rule_finds_nothing_in_the_repaired_code(example: Example):
    found = linted(example)
    assert example.code not in {code for code, _ in found.places("mode")}
    assert {finding.severity for finding in found.findings("mode")} <= {"info"}


@every("bad")
def test_torch_does_what_the_page_says(example: Example, tmp_path: Path, torch_process: TorchProcess):
    seen = torch_process.observe("mode", example.write(tmp_path), example.target)
    assert CLAIMS[example.code](seen), seen


@every("good")
def test_torch_does_not_do_it_in_the_repaired_code(
    example: Example, tmp_path: Path, torch_process: TorchProcess
):
    seen = torch_process.observe("mode", example.write(tmp_path), example.target)
    assert not CLAIMS[example.code](seen), seen


@every("good")
def test_the_verdict_on_the_repaired_code_is_what_torch_shows(
    example: Example, tmp_path: Path, torch_process: TorchProcess
):
    seen = torch_process.observe("mode", example.write(tmp_path), example.target)
    depends = only_in_train(seen) or train_in_eval(seen)
    assert linted(example).target.mode.verdict == ("dependent" if depends else "independent")


@pytest.mark.parametrize("name", NAMES)
def test_a_bad_example_shows_every_wording(name: str):
    assert is_worded(name, EXAMPLES, lambda e: linted(e).findings("mode"))
