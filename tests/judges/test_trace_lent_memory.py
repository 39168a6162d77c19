"""What is done with a tensor's memory outside of torch: the trace goes on with the tensor as it was."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.judges.test_trace_consequences import is_traced_right, verdict
from tests.rules.on_torch import load

RETURNED = {
    "a copy": ("copy.copy(x) * 2", "hazardous"),
    "a copy of a list of tensors": ("copy.copy([x])[0] * 2", "safe"),
    "a copy of the shape": ("copy.copy(x.shape)[1] * x", "safe"),
    "what a Python function writes": ("(x * 2).apply_(abs)", "hazardous"),
    "what a Python function writes of two": ("x.clone().map_(x + 1, max)", "hazardous"),
}


@pytest.mark.parametrize("name", RETURNED)
def test_what_the_trace_goes_on_with(tmp_path: Path, name: str) -> None:
    returned, expected = RETURNED[name]
    source = f"import copy\n\n\ndef f(x):\n    return {returned}"
    assert verdict(tmp_path, source) == expected
    right = is_traced_right(tmp_path, source, torch.ones(2, 3), -torch.ones(2, 3))
    assert right == (expected == "safe")


@pytest.mark.parametrize("seed", ["torch.initial_seed()", "torch.random.initial_seed()", "torch.seed()"])
def test_the_seed_of_a_run_is_held(tmp_path: Path, seed: str) -> None:
    source = f"def f(x):\n    return x + ({seed} % 1_000_003)"
    assert verdict(tmp_path, source) == "hazardous"
    assert not serves_another_seed(tmp_path)


def test_one_that_the_forward_sets_is_the_same_for_each_call(tmp_path: Path) -> None:
    source = "def f(x):\n    torch.manual_seed(3)\n    return x + torch.initial_seed()"
    assert verdict(tmp_path, source) == "safe"
    assert serves_another_seed(tmp_path)


def serves_another_seed(tmp_path: Path) -> bool:
    """Whether a trace made with one seed gives what eager gives with another."""
    forward = load(str(tmp_path / "model.py")).f
    x = torch.zeros(1, dtype=torch.int64)
    torch.manual_seed(1)
    traced = torch.jit.trace(forward, (x,), check_trace=False)
    torch.manual_seed(2)
    return torch.equal(traced(x), forward(x))


def test_what_is_written_into_a_tensor_of_constants_is_not_followed(tmp_path: Path) -> None:
    source = "def f(x):\n    return x + torch.zeros(3).apply_(lambda v: v + 1)"
    assert verdict(tmp_path, source) == "unknown"
    assert not is_traced_right(tmp_path, source, torch.ones(3), -torch.ones(3))


DRAWN = {
    "made in forward": (
        "g = torch.Generator()\n    g.manual_seed(3)\n    return x + torch.rand(3, generator=g)",
        False,
    ),
    "made and seeded at once": (
        "g = torch.Generator().manual_seed(3)\n    return x + torch.randn(x.shape, generator=g)",
        False,
    ),
    "in place": ("g = torch.Generator().manual_seed(3)\n    return x.clone().uniform_(generator=g)", False),
    "seeded by a function": ("g = torch.manual_seed(3)\n    return x + torch.rand(3, generator=g)", False),
    "none, seeded": ("torch.manual_seed(3)\n    return x + torch.rand(3, generator=None)", False),
    "made but not given": ("g = torch.Generator().manual_seed(3)\n    return x * 2", True),
    "torch's own": ("return (x + torch.rand(3, generator=torch.default_generator)) * 0", True),
}


@pytest.mark.parametrize("name", DRAWN)
def test_the_trace_draws_from_no_other_generator_than_that_of_torch(tmp_path: Path, name: str) -> None:
    body, is_right = DRAWN[name]
    source = f"def f(x):\n    {body}"
    assert verdict(tmp_path, source) == ("safe" if is_right else "hazardous")
    assert is_traced_right(tmp_path, source, torch.ones(3), -torch.ones(3)) is is_right
