"""Functions and tensors that are given to code which is not read: followed where it is torch's, not known else."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.judges.test_trace_consequences import verdict

MODULE = """\
import asyncio
import inspect
import logging
import operator
import pickle
import random
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn

class Net(nn.Module):
    def choose(self, x):
        if x.sum() > 0:
            return x * 2
        return x * 3

    async def chosen(self, x):
        return self.choose(x)

    def forward(self, x):
        {body}
"""
FOLLOWED = {
    "forked": "return torch.jit.wait(torch.jit.fork(self.choose, x))",
    "through a method caller": "return x * operator.methodcaller('item')(x.sum())",
    "as a checkpoint": "return torch.utils.checkpoint.checkpoint(self.choose, x, use_reentrant=False)",
}
NOT_KNOWN = {
    "to a pool": "return ThreadPoolExecutor(1).submit(self.choose, x).result()",
    "to each": "return list(ThreadPoolExecutor(1).map(self.choose, [x]))[0]",
    "as a coroutine": "return asyncio.run(self.chosen(x))",
    "a list that is shuffled": "order = list(range(10**4))\n        random.shuffle(order)\n        return x * order[0]",
    "a tensor that is written as bytes": "return pickle.loads(pickle.dumps(x.detach())) * 2",
}
HARMLESS = {
    "asked about": "return x * len(inspect.signature(self.choose).parameters)",
    "for a device that is not there": "if torch.xpu.is_available():\n            return self.choose(x)\n        return x",
    "to a logger": "logging.getLogger().debug('%s', x)\n        return x * 2",
}


def is_wrong(body: str) -> bool:
    names: dict[str, type[torch.nn.Module]] = {}
    exec(MODULE.format(body=body), names)
    net, x = names["Net"](), torch.ones(2, 3)
    try:
        traced = torch.jit.trace(net, (x,), check_trace=False)
    except RuntimeError:
        return True
    return not torch.equal(traced(-x), net(-x))


@pytest.mark.parametrize("body", [*FOLLOWED.values(), *NOT_KNOWN.values()])
def test_the_trace_is_wrong_or_raises(body: str) -> None:
    assert is_wrong(body)


@pytest.mark.parametrize("body", FOLLOWED.values(), ids=FOLLOWED)
def test_what_torch_runs_at_once_is_followed(tmp_path: Path, body: str) -> None:
    assert verdict(tmp_path, MODULE.format(body=body)) == "hazardous"


@pytest.mark.parametrize("body", NOT_KNOWN.values(), ids=NOT_KNOWN)
def test_what_others_make_of_it_is_not_known(tmp_path: Path, body: str) -> None:
    assert verdict(tmp_path, MODULE.format(body=body)) == "unknown"


def test_an_object_that_is_made_in_eager_alone_is_not_said_to_change_the_result(tmp_path: Path) -> None:
    """Nobody knows what becomes of it: here nothing."""
    made = "class Cache:\n    pass\n\n\nclass Net"
    body = "cache = None\n        if not torch.jit.is_tracing():\n            cache = Cache()\n        return x * 2"
    source = MODULE.format(body=body).replace("class Net", made)
    assert verdict(tmp_path, source) == "unknown"


@pytest.mark.parametrize("body", HARMLESS.values(), ids=HARMLESS)
def test_what_only_says_something_is_safe(tmp_path: Path, body: str) -> None:
    assert not is_wrong(body)
    assert verdict(tmp_path, MODULE.format(body=body)) == "safe"
