"""What a module keeps from one call to the next: a trace holds what the first call left, unless each call makes it anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.judges.test_trace_consequences import verdict
from tests.rules.on_torch import load

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = {kept}

    def forward(self, x):
        {forward}
"""
HELD = {
    "a count that begins by default": ("None", "self.n = getattr(self, 'n', 0) + 1; return x * self.n"),
    "the last input, if there was one": ("None", "y = getattr(self, 'y', 0); self.y = x; return x + y"),
    "a count in a dict": ("{}", "self.kept['n'] = self.kept.get('n', 0) + 1; return x * self.kept['n']"),
    "a count in a dict, added to": ("{'n': 0}", "self.kept['n'] += 1; return x * self.kept['n']"),
    "a list that grows": ("[]", "self.kept += [x]; return sum(self.kept)"),
    "an iterator": ("iter([1, 2, 3, 4])", "return x * next(self.kept)"),
    "a count in __dict__": (
        "None",
        "self.__dict__['n'] = self.__dict__.get('n', 0) + 1; return x * self.__dict__['n']",
    ),
    "a count in vars": ("None", "vars(self)['n'] = vars(self).get('n', 0) + 1; return x * vars(self)['n']"),
    "a count that object sets": (
        "None",
        "object.__setattr__(self, 'n', getattr(self, 'n', 0) + 1); return x * self.n",
    ),
    "a count on the class": (
        "None",
        "type(self).n = getattr(type(self), 'n', 0) + 1; return x * type(self).n",
    ),
    "a count on the class, read by the instance": (
        "None",
        "self.__class__.n = getattr(self.__class__, 'n', 0) + 1; return x * self.n",
    ),
    "what was put under another key": (
        "{'b': 0}",
        "y = self.kept['b']; self.kept['b'] = x; return x + y",
    ),
    "the whole of a dict, to which more is added": (
        "{}",
        "self.kept['a'] = x; y = sum(self.kept.values()); self.kept['b'] = x; return y",
    ),
    "the whole of a dict, which is updated": (
        "{}",
        "self.kept['a'] = x; y = sum(self.kept.values()); self.kept.update(b=x); return y",
    ),
    "the whole of a dict, of which something is taken out": (
        "{'b': 2}",
        "self.kept['a'] = x; y = sum(self.kept.values()); self.kept.pop('b', None); return y",
    ),
    "the whole of a dict that another takes the place of": (
        "{}",
        "self.kept['a'] = x; y = sum(self.kept.values()); self.kept = {'b': x}; return y",
    ),
    "the whole of a dict before anything is put there": (
        "{}",
        "y = x + len(self.kept); self.kept['a'] = x; return y",
    ),
}
ANEW = {
    "the whole of what this call has put there": (
        "{'c': 2}",
        "self.kept['a'] = x; self.kept['b'] = x + 1; return x + len(self.kept) + sum(self.kept.values())",
    ),
    "what goes over the whole of it": (
        "{}",
        "self.kept['a'] = x; self.kept['b'] = x + 1; return torch.stack([v for k, v in self.kept.items()])",
    ),
    "the whole of what this call changes again": (
        "{}",
        "self.kept['a'] = x; y = sum(self.kept.values()); self.kept['a'] = y * 2; return y",
    ),
    "what this call has put under a key": ("{}", "self.kept['n'] = x.sum(); return x * self.kept['n']"),
    "what this call has made of it": (
        "{}",
        "self.kept['a'] = x + 1; self.kept['b'] = self.kept['a'] * 2; return self.kept['b']",
    ),
    "what this call has added to": (
        "{}",
        "self.kept['a'] = x + 1; self.kept['a'] += 1; return self.kept['a']",
    ),
    "a place of a list": ("[0, 1]", "self.kept[0] = x; return self.kept[0] * 2"),
    "a dict of this call": ("{}", "self.kept = {}; self.kept['a'] = x; return sum(self.kept.values())"),
    "an iterator of this call": ("[1, 2]", "it = iter(self.kept); return x * next(it)"),
}
CASES = {**HELD, **ANEW}


def _source(name: str) -> str:
    kept, forward = CASES[name]
    return NET.format(kept=kept, forward=forward)


@pytest.mark.parametrize("name", CASES)
def test_the_judge_tells_what_is_held(tmp_path: Path, name: str) -> None:
    assert verdict(tmp_path, _source(name)) == ("hazardous" if name in HELD else "safe")


def _net(folder: Path, name: str) -> Any:
    path = folder / "kept.py"
    path.write_text(_source(name), encoding="utf-8")
    return load(str(path)).Net()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_a_trace_does_as_eager_in_each_call(tmp_path: Path, name: str) -> None:
    eager, example = _net(tmp_path, name), torch.ones(3)
    traced = torch.jit.trace(_net(tmp_path, name), (example,), check_trace=False)
    calls = (example, torch.full((3,), 2.0), torch.full((3,), 5.0))
    alike = all(torch.equal(eager(x), traced(x)) for x in calls)
    assert alike == (name in ANEW)
