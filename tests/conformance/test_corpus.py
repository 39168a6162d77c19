"""Small modules in every style that the language has: torch and tsguard agree on each.

The files say nothing of what is expected: torch does, when they are run.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.agreement import compare_in_place
from tests.conformance.programs import Program
from tsguard.project import Project
from tsguard.project.targets import targets_of

CORPUS = Path(__file__).parent / "corpus"
FILES = sorted(path for path in CORPUS.glob("*.py") if path.name != "fields.py")
# What is set through a frame is not followed: torch takes these, and nobody who only reads can know it.
NOT_FOLLOWED = {("frames", "A"), ("frames", "B")}


def _programs(path: Path) -> list[tuple[Path, Program]]:
    project = Project((path.parent,))
    source = path.read_text(encoding="utf-8")
    names = [target.qualname for target in targets_of(project, project.module(path))]
    return [
        (path, Program(source, f"{name}.inputs() if hasattr({name}, 'inputs') else ()", name))
        for name in names
        if name[:1].isupper()
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_torch_and_tsguard_agree_on_each_module(path: Path):
    comparisons = compare_in_place(_programs(path))
    assert comparisons
    unknown = {(path.stem, c.program.target) for c in comparisons if c.verdict == "unknown"}
    assert unknown == {(stem, target) for stem, target in NOT_FOLLOWED if stem == path.stem}
    wrong = [c for c in comparisons if not c.agrees]
    assert not [(c.program.target, c.verdict, c.lines, c.outcome, c.line, c.message[-300:]) for c in wrong]
