"""Inputs without an annotation: what a forward does with them tells lists and dicts of tensors from tensors."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.judges.test_trace_consequences import is_traced_right, verdict
from tsguard.analysis.python import Program
from tsguard.judges.judgement import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

LISTS = [
    "y = 0\n    for x in xs[::-1]:\n        y = y + x.sum()\n    return y",
    "return sum(x.sum() for x in xs + [xs[0] * 2])",
    "return torch.cat(xs).sum() + sum(x.sum() for x in xs)",
    "assert isinstance(xs, list)\n    return sum(x.sum() for x in xs)",
]
DICTS = [
    "return sum(xs.values()) * 2",
    "return sum(x.sum() for x in xs.values())",
    "return sum(x * len(name) for name, x in xs.items())",
    "x = xs['a']\n    if 'b' in xs:\n        x = x + xs['b']\n    return x",
]
TENSORS = [
    "return sum(row.sum() for row in xs) + xs.mean()",
    "return sum(row.sum() for row in xs * 2)",
    "return sum(row.sum() for row in torch.relu(xs))",
]
# Of another than the input, or of some inputs only.
OTHERS = {
    "a parameter of the same name": "g = lambda xs: xs.append(1)\n    return torch.stack([x.sum() for x in xs])",
    "a type comment of another function": (
        "def g(a):\n        # type: (List[Tensor]) -> Tensor\n        return a[0]\n"
        "    return sum(x.sum() for x in xs) + g([xs[0]]).sum()"
    ),
    "a dict that is asked for": "t = xs['a'] if isinstance(xs, dict) else xs\n    return sum(x.sum() for x in t)",
    "a way that no call goes": "return sum(x.sum() for x in xs) if not isinstance([], dict) else xs[::-1]",
}
UNTOLD = ["return sum(x.sum() for x in xs)", "return [a * b for a, b in zip(xs, xs)]"]


@pytest.mark.parametrize("body", LISTS)
def test_a_list_is_as_long_as_that_of_the_example(tmp_path: Path, body: str) -> None:
    source = f"def f(xs):\n    {body}"
    assert verdict(tmp_path, source) == "safe"
    given = [[torch.full((n,), float(n)) for _ in range(2)] for n in (2, 3)]
    assert is_traced_right(tmp_path, source, *given)  # type: ignore[arg-type]


@pytest.mark.parametrize("body", DICTS)
def test_a_dict_has_the_keys_of_the_example(tmp_path: Path, body: str) -> None:
    assert verdict(tmp_path, f"def f(xs):\n    {body}") == "safe"

    def given(size: int) -> dict[str, torch.Tensor]:
        return {"a": torch.full((size,), float(size)), "b": torch.full((size,), 5.0)}

    namespace: dict = {"__name__": "model"}
    exec(f"import torch\ndef f(xs):\n    {body}", namespace)
    traced = torch.jit.trace(namespace["f"], (given(2),), check_trace=False, strict=False)
    other = given(3)
    assert str(traced(other)) == str(namespace["f"](other))


@pytest.mark.parametrize("body", TENSORS)
def test_a_tensor_has_as_many_rows_as_the_example(tmp_path: Path, body: str) -> None:
    source = f"def f(xs):\n    {body}"
    assert verdict(tmp_path, source) == "hazardous"
    assert not is_traced_right(tmp_path, source, torch.ones(2, 4), torch.ones(3, 4))


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_done_with_others_tells_nothing(tmp_path: Path, name: str) -> None:
    source = f"from typing import List\nfrom torch import Tensor\ndef f(xs):\n    {OTHERS[name]}"
    assert verdict(tmp_path, source) in ("unknown", "hazardous")
    assert not is_traced_right(tmp_path, source, torch.ones(2, 4), torch.ones(3, 4))


@pytest.mark.parametrize("body", UNTOLD)
def test_what_is_only_gone_through_may_be_either(tmp_path: Path, body: str) -> None:
    path = tmp_path / "model.py"
    path.write_text(f"import torch\ndef f(xs):\n    {body}", encoding="utf-8")
    project = Project((tmp_path,))
    found = judge(Program(project), find_target(project.module(path), "f"))
    assert found.trace == "unknown"
    assert [gap.why for gap in found.trace_unknown] == [
        "the source does not tell whether xs is a list or a tensor"
    ]

    source = f"def f(xs):\n    {body}"
    if body == UNTOLD[0]:  # of a list the trace is right, of the rows of a tensor it is not
        given = [[torch.full((n,), float(n)) for _ in range(2)] for n in (2, 3)]
        assert is_traced_right(tmp_path, source, *given)  # type: ignore[arg-type]
        assert not is_traced_right(tmp_path, source, torch.ones(2, 4), torch.ones(3, 4))


@pytest.mark.parametrize(("annotation", "expected"), [("List[Tensor]", "safe"), ("Tensor", "hazardous")])
def test_an_annotation_tells(tmp_path: Path, annotation: str, expected: str) -> None:
    source = f"from typing import List\nfrom torch import Tensor\ndef f(xs: {annotation}):\n    {UNTOLD[0]}"
    assert verdict(tmp_path, source) == expected


@pytest.mark.parametrize(("comment", "expected"), [("List[Tensor]", "safe"), ("Tensor", "hazardous")])
def test_a_type_comment_tells(tmp_path: Path, comment: str, expected: str) -> None:
    lines = f"def f(xs):\n    # type: ({comment}) -> Tensor\n    {UNTOLD[0]}"
    assert verdict(tmp_path, f"from typing import List\nfrom torch import Tensor\n{lines}") == expected
