"""What the code of an ``autograd.Function`` computes with beside its arguments, held against torch."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import tsguard
from tests.judges.test_trace_consequences import is_traced_right, verdict
from tests.rules.on_torch import load

FUNCTION = """
class Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, given):
        ctx.given = given
        return {made}

    @staticmethod
    def backward(ctx, gradient):
        return gradient, None


def f(x):
    return Fn.apply(x, {given})
"""
CHECKPOINTED = """
from torch.utils.checkpoint import checkpoint


def f(x):
    y, n, s = x * 2, x.size(0), x.shape
    return checkpoint({function}, {given}, use_reentrant={kind})
"""
COMPUTED_WITH = [
    "torch.ones(given) + x",
    "x.reshape(given)",
    "x * given[0]",
    "x * int(given[0])",
    "x[: given[0] - 1]",
]
NOT_COMPUTED_WITH = ["x * 2", "x * len(given)"]
IN_ONE = ["x.shape", "(x.size(0), 3)", "torch.Size([x.size(0), 3])", "[x.size(0), 3]"]
ALONE = ["x.size(0)", "x * 2", "3"]
CAPTURED = [
    ("lambda t: t * y", "x"),
    ("lambda t: t * y", "y"),
    ("lambda t: t * int(n)", "x"),
    ("lambda t: t * 2 if n > 2 else t", "x"),
    ("lambda t, s: t.reshape(s)", "x, s"),
    ("lambda ts: ts[0] * ts[1]", "(x, y)"),
]
GIVEN = [("lambda t: t * len(s)", "x"), ("lambda t, n: t * n", "x, n"), ("lambda t, u: t * u", "x, y")]


def is_right_on_torch(tmp_path: Path, source: str) -> bool:
    return is_traced_right(tmp_path, source, torch.ones(2, 3), torch.full((5, 3), 2.0))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("given", IN_ONE)
@pytest.mark.parametrize("made", [*COMPUTED_WITH, *NOT_COMPUTED_WITH])
def test_sizes_in_a_tuple_cannot_be_computed_with(tmp_path: Path, made: str, given: str) -> None:
    source = FUNCTION.format(made=made, given=given)
    is_right = made in NOT_COMPUTED_WITH
    assert verdict(tmp_path, source) == ("safe" if is_right else "hazardous")
    assert is_right_on_torch(tmp_path, source) == is_right


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("given", ALONE)
def test_arguments_of_their_own_can(tmp_path: Path, given: str) -> None:
    source = FUNCTION.format(made="x * given", given=given)
    assert verdict(tmp_path, source) == "safe"
    assert is_right_on_torch(tmp_path, source)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("function", "given"), [*CAPTURED, *GIVEN])
def test_what_a_checkpointed_function_captures(tmp_path: Path, function: str, given: str) -> None:
    source = CHECKPOINTED.format(function=function, given=given, kind=True)
    is_right = (function, given) in GIVEN
    assert verdict(tmp_path, source) == ("safe" if is_right else "hazardous")
    assert is_right_on_torch(tmp_path, source) == is_right


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", ["lambda t: t * y", "lambda t: t.reshape(s)"])
def test_the_other_kind_of_checkpoint_captures_what_it_likes(tmp_path: Path, function: str) -> None:
    source = CHECKPOINTED.format(function=function, given="x", kind=False)
    assert verdict(tmp_path, source) == "safe"
    assert is_right_on_torch(tmp_path, source)


ANEW = """
import functools

import torch
from torch.utils.checkpoint import checkpoint, checkpoint_sequential


def double(t):
    return t * 2


def scaled(t, by):
    return t * by


@functools.lru_cache
def kept(by):
    return lambda t: t * by


def made(by):
    return lambda t: t * by


def f(x):
    return {result}
"""
OTHERS = [
    "checkpoint(lambda t: t * 2, x, use_reentrant=True)",
    "checkpoint(made(2), x, use_reentrant=True)",
    "checkpoint(functools.partial(lambda t, by: t * by, by=2), x, use_reentrant=True)",
    "checkpoint_sequential([torch.relu, torch.tanh], 2, x, use_reentrant=True)",
]
THE_SAME = [
    "checkpoint(double, x, use_reentrant=True)",
    "checkpoint(kept(2), x, use_reentrant=True)",
    "checkpoint(functools.partial(scaled, by=2), x, use_reentrant=True)",
    "checkpoint(lambda t: t * 2, x, use_reentrant=False)",
    "checkpoint_sequential([torch.relu, torch.tanh], 1, x, use_reentrant=True)",
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("result", [*OTHERS, *THE_SAME])
def test_functions_that_each_call_makes_anew(tmp_path: Path, result: str) -> None:
    path = tmp_path / "made_anew.py"
    path.write_text(ANEW.replace("{result}", result), encoding="utf-8")
    function = load(str(path)).f
    try:
        torch.jit.trace(function, torch.ones(2, 3))
        is_taken = True
    except torch.jit.TracingCheckError:
        is_taken = False
    codes = [finding.code for finding in tsguard.lint([f"{path}:f"], isolated=True).findings]
    assert is_taken == ("TSG240" not in codes) == (result in THE_SAME)
