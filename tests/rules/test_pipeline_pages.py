"""The pipeline pages are true: tsguard finds what they mark, and real DataLoaders do what they say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.rules.on_torch import ExampleCrashed, TorchProcess
from tests.rules.pages import Example, examples, found, is_worded, names_in

EXAMPLES = examples("pipeline")
NAMES = names_in("pipeline")


def every(kind: str) -> pytest.MarkDecorator:
    chosen = [example for example in EXAMPLES if example.kind == kind]
    return pytest.mark.parametrize("example", chosen, ids=lambda example: example.id)


@every("bad")
def test_the_marked_lines_are_found_and_no_others(example: Example, tmp_path: Path):
    assert example.code in {code for code, _ in example.marks}
    assert {(f.code, f.line) for f in found(example, "pipeline")} == example.marks


@every("good")
def test_nothing_is_found_in_the_repaired_code(example: Example, tmp_path: Path):
    assert found(example, "pipeline") == []


@every("bad")
def test_what_the_page_says_happens(example: Example, tmp_path: Path, torch_process: TorchProcess):
    seen = _observed(example, tmp_path, torch_process)
    assert seen["shown"] is True
    assert [line for line in example.quoted_lines if line not in (seen["error"] or "")] == []
    assert bool(example.quotes) == bool(seen["error"]), seen["error"]


@every("good")
def test_it_does_not_happen_in_the_repaired_code(
    example: Example, tmp_path: Path, torch_process: TorchProcess
):
    seen = _observed(example, tmp_path, torch_process)
    assert (seen["shown"], seen["error"]) == (False, None)


def _observed(example: Example, folder: Path, torch_process: TorchProcess) -> dict[str, object]:
    try:
        seen = torch_process.observe("pipeline", example.write(folder), "")
    except ExampleCrashed as crash:
        # Missing, or built for another torch: the example cannot even be imported.
        missing = re.search(r"No module named '(torchvision|PIL)'|operator torchvision::", str(crash))
        if missing:
            pytest.skip(f"an example needs a package that is not here: {missing[0]}")
        raise
    if seen["skipped"]:
        pytest.skip(seen["skipped"])
    return seen


@pytest.mark.parametrize("name", NAMES)
def test_a_bad_example_shows_every_wording(name: str):
    assert is_worded(name, EXAMPLES, lambda e: found(e, "pipeline"))
