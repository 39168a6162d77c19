"""What is another at every call, by an object that draws or counts: a trace keeps what it was once."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
import torch

from tests.judges.test_trace_consequences import verdict

MODULE = """\
import collections
import datetime
import itertools
import random
import secrets
import time
import uuid

import torch
from torch import nn
from torch.distributions import Bernoulli, Categorical, Normal

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rng = random.Random(0)
        self.coin = Bernoulli(0.5)
        self.pick = Categorical(torch.ones(50))
        self.noise = Normal(0.0, 1.0)
        self.calls = itertools.count()
        self.seen = collections.Counter()
        self.last = collections.deque()

    def forward(self, x):
        {body}
"""
KEPT = {
    "a number of a generator": "return x * self.rng.random()",
    "one of several": "return x * self.rng.choice(range(99))",
    "a number of the system": "return x * secrets.randbelow(10 ** 6)",
    "a name that is unique": "return x * (uuid.uuid4().int % 10 ** 6)",
    "the time": "return x * (time.perf_counter_ns() % 10 ** 6)",
    "the day's time": "return x * datetime.datetime.utcnow().microsecond",
    "the number of a sample": "return x * self.noise.sample().item()",
    "a sample as an index": "return x * list(range(50))[self.pick.sample()]",
    "a sample of one made here": "return x * float(Normal(0.0, 1.0).sample((1,)))",
    "counts": "self.seen['n'] += 1\n        return x * self.seen['n']",
}
NOT_FOLLOWED = {
    "a counter": "return x * next(self.calls)",
    "the length of a queue": "self.last.append(1)\n        return x * len(self.last)",
}
RECORDED = {
    "a sample": "return x + self.noise.sample((4,))",
    "a sample of the inputs' size": "return x + self.noise.rsample(x.shape)",
    "a queue that is only filled": "self.last.append(1)\n        return x * 2",
}


def differs(source: str) -> bool:
    """Whether a trace repeats itself where eager does not, with one seed before the two calls of each."""
    names: dict[str, type[torch.nn.Module]] = {}
    exec(source, names)
    net, x = names["Net"](), torch.ones(2, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        traced = torch.jit.trace(net, (x,), check_trace=False)
    pairs = []
    for module in (net, traced):
        torch.manual_seed(7)
        first = module(x)
        pairs.append(torch.equal(first, module(x)))
    return pairs == [False, True]


@pytest.mark.parametrize("body", [*KEPT.values(), *NOT_FOLLOWED.values()])
def test_torch_keeps_what_was_drawn(body: str) -> None:
    assert differs(MODULE.format(body=body))


@pytest.mark.parametrize("body", RECORDED.values())
def test_torch_records_what_draws(body: str) -> None:
    assert not differs(MODULE.format(body=body))


@pytest.mark.parametrize("body", KEPT.values(), ids=KEPT)
def test_what_is_drawn_is_a_hazard(tmp_path: Path, body: str) -> None:
    assert verdict(tmp_path, MODULE.format(body=body)) == "hazardous"


@pytest.mark.parametrize("body", NOT_FOLLOWED.values(), ids=NOT_FOLLOWED)
def test_what_is_counted_is_not_known(tmp_path: Path, body: str) -> None:
    assert verdict(tmp_path, MODULE.format(body=body)) == "unknown"


@pytest.mark.parametrize("body", RECORDED.values(), ids=RECORDED)
def test_what_is_recorded_is_safe(tmp_path: Path, body: str) -> None:
    assert verdict(tmp_path, MODULE.format(body=body)) == "safe"
