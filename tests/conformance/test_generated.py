"""Programs written at random in and around TorchScript's subset: torch and tsguard agree."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from random import Random, SystemRandom

import pytest

from tests.conformance.agreement import Comparison, compare, figures
from tests.conformance.programs import write

SAMPLE = 150
WHOLE = 10_000
BATCH = 250


def test_a_sample_of_programs(tmp_path: Path):
    comparisons = compare([write(Random(seed)) for seed in range(SAMPLE)], tmp_path)
    assert not [said(c) for c in comparisons if not c.agrees]


@pytest.mark.slow
def test_ten_thousand_programs_of_a_fresh_seed(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    seed = SystemRandom().randrange(2**32)
    source = Random(seed)
    programs = (write(source) for _ in range(WHOLE))
    comparisons: list[Comparison] = []
    while batch := list(islice(programs, BATCH)):
        comparisons += compare(batch, tmp_path)
    measured = figures(comparisons)
    with capsys.disabled():
        print(f"\nseed {seed}: {measured}")
        for comparison in comparisons:
            if not comparison.agrees:
                print(said(comparison))
    assert measured.coverage >= 0.95
    assert measured.recall >= 0.98
    assert measured.precision >= 0.99


def said(comparison: Comparison) -> str:
    program = comparison.program
    return (
        f"torch: {comparison.outcome} at line {comparison.line}: {comparison.message}\n"
        f"tsguard: {comparison.verdict} at lines {comparison.lines}\n"
        f"{program.source}\ninputs: {program.inputs}\n"
    )
