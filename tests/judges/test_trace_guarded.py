"""What only runs while tracing, or only in eager, and comes to the same."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.judges.test_trace_consequences import verdict

MODULE = """\
import torch
from torch import nn

OFF = {{"fast": False}}
ON = {{"fast": True}}


def is_fast(flags):
    if torch.jit.is_scripting() or torch.jit.is_tracing():
        return False
    names = list(flags)
    return all([flags[name] for name in names])


def check(positive, message):
    if torch.jit.is_tracing():
        torch._check(True)
        return

    def text():
        return message

    if callable(positive):
        positive = positive()
    if not positive:
        raise ValueError(text())


def halved(x):
    if torch.jit.is_tracing():
        return
    x.mul_(0.5)


def halved_under_a_name(x):
    if torch.jit.is_tracing():
        return
    y = x.mul_(0.5)


class Net(nn.Module):
    def forward(self, x):
        {body}
"""
CASES = {
    "a flag that is off": ("return x * 2 if is_fast(OFF) else x", "safe"),
    "a flag that is on": ("return x * 2 if is_fast(ON) else x", "hazardous"),
    "a check": ("check(True, 'wrong')\n        return x * 2", "safe"),
}


def is_wrong(body: str) -> bool:
    names: dict[str, type[torch.nn.Module]] = {}
    exec(MODULE.format(body=body), names)
    net, x = names["Net"](), torch.ones(2, 3)
    traced = torch.jit.trace(net, (torch.ones(2, 3),), check_trace=False)
    return not torch.equal(traced(x.clone()), net(x.clone()))


@pytest.mark.parametrize(("body", "expected"), CASES.values(), ids=CASES)
def test_sides_that_come_to_the_same_are_told_from_others(tmp_path: Path, body: str, expected: str) -> None:
    assert is_wrong(body) is (expected == "hazardous")
    assert verdict(tmp_path, MODULE.format(body=body)) == expected


@pytest.mark.parametrize("function", ["halved", "halved_under_a_name"])
def test_a_side_that_changes_its_argument_is_not_called_safe(tmp_path: Path, function: str) -> None:
    body = f"y = x * 2\n        {function}(y)\n        return y"
    assert is_wrong(body)
    assert verdict(tmp_path, MODULE.format(body=body)) != "safe"
