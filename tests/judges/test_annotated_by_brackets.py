"""Inputs annotated with a class whose metaclass says what brackets mean, as array annotations do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.judges.test_trace_consequences import verdict

OWN = """
class Bracketed(type):
    def __getitem__(cls, item):
        return item[0]

class Kind(metaclass=Bracketed):
    pass

def make(name):
    class Made(Kind):
        dtypes = name
    return Made

Float = make("float")
"""
MODULE = """
import torch
from torch import nn
{head}

class Net(nn.Module):
    def forward(self, x: Float[torch.Tensor, "batch width"]):
        {body}
"""
HEADS = {"read": OWN, "not found": "from elsewhere import Float"}
BODIES = {
    "return x * 2": "safe",
    "if x.sum() > 0:\n            return x\n        return -x": "hazardous",
}


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("body", BODIES)
def test_the_tensor_in_the_brackets_is_the_input(tmp_path: Path, head: str, body: str) -> None:
    assert verdict(tmp_path, MODULE.format(head=HEADS[head], body=body)) == BODIES[body]


@pytest.mark.parametrize("body", BODIES)
def test_torch_takes_the_tensor(body: str) -> None:
    names: dict[str, Any] = {"__name__": "model"}
    exec(MODULE.format(head=OWN, body=body), names)
    net, x = names["Net"](), torch.ones(2, 2)
    traced = torch.jit.trace(net, (x,), check_trace=False)
    assert torch.equal(traced(-x), net(-x)) == (BODIES[body] == "safe")
    if BODIES[body] == "safe":
        assert torch.equal(torch.export.export(net, (x,)).module()(-x), net(-x))


def test_a_class_of_its_own_is_still_an_object(tmp_path: Path) -> None:
    source = MODULE.format(head="class Float:\n    pass", body="return x.y")
    assert verdict(tmp_path, source.replace('Float[torch.Tensor, "batch width"]', "Float")) == "hazardous"
