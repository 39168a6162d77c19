"""What Python sorts, or takes the greatest of, by keys that data decide: a trace holds the example's order."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.judges.test_trace_consequences import verdict

HELD = {
    "sorted by a number": "return sorted([x, -x], key=lambda rows: float(rows.sum()))[0]",
    "sorted in place": "rows = [x, -x]\n    rows.sort(key=lambda row: int(row.sum()))\n    return rows[0]",
    "the greatest key": "rows = {'a': x, 'b': -x}\n"
    "    return rows[max(rows, key=lambda name: rows[name].sum())]",
    "the least by a number": "return min([x, -x], key=lambda rows: rows.mean().item())",
    "in tuples": "return x * sorted([(int(x.sum()), 0), (2, 1)])[0][1]",
}
FOLLOWED = {
    "by what is known": "return x * max({'a': 1, 'b': 2}.items(), key=lambda pair: pair[1])[1]",
    "by a rank": "return sorted([x, x[:, :2]], key=lambda rows: rows.dim())[0]",
}
CASES = {**HELD, **FOLLOWED}


@pytest.mark.parametrize("name", CASES)
def test_the_judge_tells_what_is_held(tmp_path: Path, name: str) -> None:
    source = f"def f(x: torch.Tensor):\n    {CASES[name]}"
    assert verdict(tmp_path, source) == ("hazardous" if name in HELD else "safe")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_a_trace_holds_it(tmp_path: Path, name: str) -> None:
    path = tmp_path / "model.py"
    path.write_text(f"import torch\ndef f(x: torch.Tensor):\n    {CASES[name]}\n", encoding="utf-8")
    names: dict[str, object] = {"__name__": "model"}
    exec(compile(path.read_text(encoding="utf-8"), path, "exec"), names)
    function = names["f"]
    assert callable(function)
    first, other = torch.ones(2, 4), -torch.ones(2, 4)
    traced = torch.jit.trace(function, (first,), check_trace=False)
    assert torch.equal(traced(other), function(other)) == (name in FOLLOWED)
