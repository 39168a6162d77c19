"""The export pages are true: tsguard finds what they mark, and torch.export does what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.rules.on_torch import TorchProcess
from tests.rules.pages import Example, examples, is_worded, linted, names_in
from tests.torch_here import RELEASE
from tsguard.language.releases import ways

EXAMPLES = examples("export")
TRACED = examples("trace")
OF_COMPILE_ALONE = {e.code for e in EXAMPLES if e.rule.outcome == "exports"}
NAMES = names_in("export")
pytestmark = pytest.mark.skipif(
    not ways(RELEASE).slices_by_data, reason="torch.export is judged from torch 2.13 on"
)


def every(kind: str, outcome: str = "") -> pytest.MarkDecorator:
    chosen = [e for e in EXAMPLES if e.kind == kind and outcome in ("", e.rule.outcome)]
    return pytest.mark.parametrize("example", chosen, ids=lambda example: example.id)


def equals_eager(exported: dict[str, Any]) -> bool:
    return exported["error"] is None and all(call["equal"] for call in exported["calls"].values())


@every("bad")
def test_the_marked_lines_are_found_and_no_others(example: Example):
    assert example.code in {code for code, _ in example.marks}
    assert linted(example, "export").places("export") == example.marks


@every("bad")
def test_nothing_is_said_of_export_where_nobody_asks(example: Example):
    assert linted(example).places("export") == set()


@every("bad", "refused")
def test_what_the_page_calls_refused_is_refused(
    example: Example, tmp_path: Path, torch_process: TorchProcess
):
    judged = linted(example).target.export
    assert judged.dynamic == "refused"
    exported = torch_process.observe("export", example.write(tmp_path), example.target)
    error = (exported if judged.verdict == "refused" else exported["open"])["error"]
    assert [line for line in example.quoted_lines if line not in (error or "")] == []
    assert error is not None


@every("bad", "specialised")
def test_what_the_page_calls_specialised_exports_and_serves_the_example_only(
    example: Example, tmp_path: Path, torch_process: TorchProcess
):
    judged = linted(example).target.export
    assert "specialised" in (judged.verdict, judged.dynamic)
    exported = torch_process.observe("export", example.write(tmp_path), example.target)
    assert exported["error"] is None
    assert not equals_eager(exported if judged.verdict == "specialised" else exported["open"])


@every("bad")
def test_what_is_said_of_torch_compile_is_what_it_does(
    example: Example, tmp_path: Path, torch_process: TorchProcess
):
    said = linted(example).target.export.compile
    assert said == "breaks" or example.rule.compiled() != "breaks" or len(example.rule.compiling) > 1
    error = torch_process.observe("compile", example.write(tmp_path), example.target)["error"]
    if said != "unknown":
        assert (said == "breaks") == (error is not None), error


@every("bad", "exports")
def test_what_breaks_the_graph_alone_exports(example: Example, tmp_path: Path, torch_process: TorchProcess):
    judged = linted(example).target.export
    assert (judged.verdict, judged.compile) == ("exports", "breaks")
    assert torch_process.observe("export", example.write(tmp_path), example.target)["error"] is None
    broken = torch_process.observe("compile", example.write(tmp_path), example.target)["error"]
    assert [line for line in example.quoted_lines if line not in broken] == []


@every("good")
def test_the_repaired_code_exports_and_equals_eager(
    example: Example, tmp_path: Path, torch_process: TorchProcess
):
    found = linted(example, "export")
    assert {code for code, _ in found.places("export")} <= OF_COMPILE_ALONE - {example.code}
    assert found.target.export.verdict == "exports"
    exported = torch_process.observe("export", example.write(tmp_path), example.target)
    assert exported["error"] is None
    assert exported["calls"]["example_inputs"]["equal"]
    assert found.target.export.dynamic == "exports"
    assert equals_eager(exported["open"])


@pytest.mark.parametrize("example", TRACED, ids=lambda example: example.id)
def test_what_is_said_of_the_examples_of_traces_is_what_torch_does(
    example: Example, tmp_path: Path, torch_process: TorchProcess
):
    verdict = linted(example).target.export.verdict
    error = torch_process.observe("export", example.write(tmp_path), example.target)["error"]
    if verdict != "unknown" and "missing a required" not in (error or ""):  # inputs by keyword alone
        assert (verdict == "refused") == (error is not None), error


@pytest.mark.parametrize("name", NAMES)
def test_a_bad_example_shows_every_wording(name: str):
    assert is_worded(name, EXAMPLES, lambda e: linted(e, "export").findings("export"))
