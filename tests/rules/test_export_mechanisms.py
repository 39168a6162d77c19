"""What torch.export refuses, mechanism by mechanism: what the lint says of small programs is what torch does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.export_programs import EXPORTS, REFUSED
from tests.rules.on_torch import TorchProcess
from tests.torch_here import RELEASE
from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.language.releases import ways
from tsguard.project import Project
from tsguard.project.targets import find_target

WAYS = ways(RELEASE)

pytestmark = pytest.mark.skipif(not WAYS.slices_by_data, reason="torch.export is judged from torch 2.13 on")

CASES = {**REFUSED, **EXPORTS}
every = pytest.mark.parametrize("name", CASES)

_BY_TENSORS = dict.fromkeys(
    (
        "tensors in a list as an index",
        "an element set at a found place",
        "a row added to at a found place",
        "a found place in a list of those that are set",
        "a found place beside a mask",
        "an element set where a table is looked up",
    ),
    WAYS.indexes_by_tensors,
)
EXPORTED_LATER = {
    **_BY_TENSORS,
    "attention over what a mask selects": WAYS.attends_over_counts_of_data,
    "an encoder over steps that a mask selects": WAYS.attends_over_counts_of_data,
    "how alike two selections are": WAYS.compares_counts_of_data,
    "how alike a layer finds two selections": WAYS.compares_counts_of_data,
    "steps as long as data tells": WAYS.steps_by_data,
    "steps as long as data tells, by keyword": WAYS.steps_by_data,
}
"""What newer releases take, and whether this one does."""


def outcome(name: str) -> str:
    return "refused" if name in REFUSED and not EXPORTED_LATER.get(name) else "exports"


@every
def test_the_lint_says_it(name: str, tmp_path: Path):
    path = tmp_path / "model.py"
    path.write_text(CASES[name].source(), encoding="utf-8")
    project = Project((tmp_path,))
    verdict = judge(Program(project, RELEASE), find_target(project.module(path), "Net")).export.verdict
    assert ("refused" if verdict == "refused" else verdict.replace("specialised", "exports")) == outcome(name)


@every
def test_torch_does_it(name: str, tmp_path: Path, torch_process: TorchProcess):
    path = tmp_path / "model.py"
    path.write_text(CASES[name].source(), encoding="utf-8")
    error = torch_process.observe("export", path, "Net")["error"]
    assert (error is not None) == (outcome(name) == "refused"), error


@every
def test_what_is_said_of_torch_compile_is_what_it_does(
    name: str, tmp_path: Path, torch_process: TorchProcess
):
    path = tmp_path / "model.py"
    path.write_text(CASES[name].source(), encoding="utf-8")
    project = Project((tmp_path,))
    said = judge(Program(project, RELEASE), find_target(project.module(path), "Net")).export.compile
    error = torch_process.observe("compile", path, "Net")["error"]
    assert said in ("unknown", "compiles" if error is None else "breaks"), error


def test_an_input_that_is_used_as_a_dtype_or_a_device_is_refused(tmp_path: Path):
    path = tmp_path / "model.py"
    uses = {"x.to(kind)": "refused", "torch.zeros(2, dtype=kind)": "refused", "x + kind": "exports"}
    for use, verdict in uses.items():
        path.write_text(f"import torch\ndef f(x, kind):\n    return {use}\n", encoding="utf-8")
        project = Project((tmp_path,))
        assert (
            judge(Program(project, RELEASE), find_target(project.module(path), "f")).export.verdict == verdict
        )


def test_a_bare_input_is_asked_for_data_where_its_use_shows_that_it_is_a_tensor(tmp_path: Path):
    path = tmp_path / "model.py"
    for shown, verdict in (("", "exports"), ("y = x.float()", "refused")):
        path.write_text(f"def f(x):\n    {shown}\n    return 1 if x > 0 else 2\n", encoding="utf-8")
        project = Project((tmp_path,))
        judged = judge(Program(project, RELEASE), find_target(project.module(path), "f")).export
        assert judged.verdict == verdict
