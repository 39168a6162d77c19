"""The pages of what a file cannot hold are true: torch compiles what they show, and does not save it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.on_torch import TorchProcess
from tests.rules.pages import Example, examples

EXAMPLES = [e for family in ("script", "trace") for e in examples(family) if e.rule.outcome == "unsaveable"]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.id)
def test_torch_saves_the_repaired_code_alone(example: Example, tmp_path: Path, torch_process: TorchProcess):
    family = example.rule.family
    raised = torch_process.observe("save", example.write(tmp_path), example.target)[family]
    assert raised != ""
    assert (raised is None) == (example.kind == "good")
    assert [line for line in example.quoted_lines if line not in (raised or "")] == []
