"""The trace pages are true: tsguard finds what they mark, and a trace does what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.rules.comparison import built
from tests.rules.on_torch import TorchProcess, load
from tests.rules.pages import Example, examples, is_worded, linted, names_in

EXAMPLES = examples("trace")
NAMES = names_in("trace")

Seen = dict[str, Any]


def every(kind: str, *, hazards: bool | None = None, without: tuple[str, ...] = ()) -> pytest.MarkDecorator:
    chosen = [
        example
        for example in EXAMPLES
        if example.kind == kind
        and (hazards is None or hazards == (example.rule.outcome == "hazardous"))
        and example.rule.name not in without
    ]
    return pytest.mark.parametrize("example", chosen, ids=lambda example: example.id)


def goes_wrong(traced: Seen, example: Example) -> bool:
    """Tracing raises, warns of a line of the example, or what it makes disagrees with eager."""
    warned = {line for line, _ in traced["warnings"]} & {line for _, line in example.marks}
    return bool(traced["error"] or warned) or not all(call["equal"] for call in traced["calls"].values())


def said(traced: Seen) -> str:
    """Everything that torch says of a trace, while it is made and when it is called."""
    calls = [call["compiled"] or "" for call in traced["calls"].values()]
    return "\n".join([traced["error"] or "", *(text for _, text in traced["warnings"]), *calls])


@every("bad")
def test_the_marked_lines_are_found_and_no_others(example: Example):
    assert example.code in {code for code, _ in example.marks}
    assert linted(example).places("trace") == example.marks


@every("bad", hazards=True)
def test_the_verdict_on_a_hazard_is_hazardous(example: Example):
    assert linted(example).target.trace.verdict == "hazardous"


@every("good")
def test_nothing_is_found_in_the_repaired_code(example: Example):
    found = linted(example)
    assert found.target.trace.verdict == "safe"
    assert found.places("trace") == set()


@every("bad", hazards=True)
def test_the_trace_goes_wrong_as_the_page_says(example: Example, tmp_path: Path, torch_process: TorchProcess):
    traced = torch_process.observe("trace", example.write(tmp_path), example.target)
    assert goes_wrong(traced, example), traced
    assert traced["error"] or traced["calls"]["example_inputs"]["eager"] is None
    assert [line for line in example.quoted_lines if line not in said(traced)] == []


# What torch.jit.trace refuses as it checks a trace, and nothing else.
CHECKED = ("kept-table", "function-made-anew")


# The example for the advice on parts has a hazard, which the advice is about; of what is checked see below,
# of what is saved test_unsaveable_pages.
@every("bad", hazards=False, without=("script-part", "unsaveable-trace", *CHECKED))
def test_what_is_only_noted_traces(example: Example, tmp_path: Path, torch_process: TorchProcess):
    """What comes back may be of another type, which is what such a page may be about."""
    traced = torch_process.observe("trace", example.write(tmp_path), example.target)
    assert traced["error"] is None
    assert all(call["compiled"] is None for call in traced["calls"].values())
    assert [line for line in example.quoted_lines if line not in said(traced)] == []


@pytest.mark.parametrize(
    "example", [e for e in EXAMPLES if e.kind == "bad" and e.rule.name in CHECKED], ids=lambda e: e.id
)
def test_a_trace_that_torch_refuses_as_it_checks_it_is_right_if_nothing_does(
    example: Example, tmp_path: Path, torch_process: TorchProcess
):
    path = example.write(tmp_path)
    checked = torch_process.observe("trace", path, example.target)
    assert [line for line in example.quoted_lines if line not in said(checked)] == []
    assert checked["error"] is not None

    module = load(str(path))
    first = module.example_inputs()
    traced = torch.jit.trace(built(module, example.target), first, check_trace=False)
    for given in (first, module.other_inputs() if hasattr(module, "other_inputs") else first):
        assert torch.equal(traced(*given), built(module, example.target)(*given))


def test_a_model_whose_part_is_traced_can_be_scripted(tmp_path: Path, torch_process: TorchProcess):
    """What ``script-part/rest`` advises, done to its own example."""
    [example] = [e for e in EXAMPLES if e.kind == "bad" and "class Mixer" in e.text]
    path = example.write(tmp_path)
    assert torch_process.observe("script", path, example.target)["error"] is not None
    advised = example.text.replace("= Mixer()", "= torch.jit.trace(Mixer(), torch.ones(2, 3))")
    path.write_text(advised, encoding="utf-8")
    scripted = torch_process.observe("script", path, example.target)
    assert scripted["error"] is None
    assert [call["equal"] for call in scripted["calls"].values()] == [True, True]


@every("good")
def test_the_trace_of_the_repaired_code_equals_eager(
    example: Example, tmp_path: Path, torch_process: TorchProcess
):
    traced = torch_process.observe("trace", example.write(tmp_path), example.target)
    assert traced["error"] is None
    for call in traced["calls"].values():
        assert call == {"eager": None, "compiled": None, "equal": True}


@pytest.mark.parametrize("name", NAMES)
def test_a_bad_example_shows_every_wording(name: str):
    assert is_worded(name, EXAMPLES, lambda e: linted(e).findings("trace"))
