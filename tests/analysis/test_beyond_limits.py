"""What lies beyond a limit of the analysis is told, asked for or not known: no promise rests on what nobody looked at."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.torch_here import RELEASE
from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

_HEAD = """
import collections
import itertools

import torch
import torch.nn.functional as F
from torch import nn


class Bad(nn.Module):
    def forward(self, x):
        f = lambda: x
        if x.sum() > 0:
            return F.dropout(f(), 0.5, self.training) * 2
        return x

"""


@pytest.fixture
def judged(tmp_path: Path):
    def run(source: str, name: str = "Net"):
        (tmp_path / "net.py").write_text(_HEAD + textwrap.dedent(source), encoding="utf-8")
        project = Project((tmp_path,))
        return judge(Program(project, RELEASE), find_target(project.module(tmp_path / "net.py"), name))

    return run


def _made(code: str, parameters: str = "", before: str = "") -> str:
    body = textwrap.indent(textwrap.dedent(code), " " * 8)
    return f"""{textwrap.dedent(before)}

class Net(nn.Module):
    def __init__(self{parameters}):
        super().__init__()
        self.part = nn.Identity()
{body}

    def forward(self, x):
        return self.part(x)
"""


_ENDLESS = """
def numbers():
    i = 0
    while True:
        yield i
        i += 1
"""

MADE = {
    "the place in a long range": _made(
        "for place, _ in enumerate(range(3000)):\n    if place == 2000:\n        self.part = Bad()"
    ),
    "in a list made of one item": _made(
        "for place, item in enumerate([0] * 1000 + [1]):\n    if item:\n        self.part = Bad()"
    ),
    "in a table": _made("if T[1500] == 1:\n    self.part = Bad()", before="T = [0] * 2000\nT[1500] = 1"),
    "behind a star": _made("*rest, last = range(2000)\nif last == 1999:\n    self.part = Bad()"),
    "what a counter has": _made(
        "seen = collections.Counter(i % 100 for i in range(2000))\nif seen[1] > 0:\n    self.part = Bad()"
    ),
    "what adds up": _made(
        "for total in itertools.accumulate([0] + [1] * 2000):\n    if total == 1900:\n        self.part = Bad()"
    ),
    "what a generator without end gives": _made(
        "for i in numbers():\n    if i == 70:\n        self.part = Bad()\n    if i > 100:\n        break",
        before=_ENDLESS,
    ),
    "of many layers": _made(
        "self.cells = nn.LSTM(3, 3, 100)\nif hasattr(self.cells, 'weight_hh_l70'):\n    self.part = Bad()"
    ),
    "the fifth turn of a while": _made(
        "turn = 0\nwhile width > 8:\n    width //= 2\n    if turn == 4:\n        self.part = Bad()\n    turn += 1",
        ", width: int",
    ),
    "the fifth turn by default": _made(
        "turn = 0\nwhile width > 8:\n    width //= 2\n    if turn == 4:\n        self.part = Bad()\n    turn += 1",
        ", width: int = 1024",
    ),
    "the twentieth turn of two loops": _made(
        "turn = 0\nfor depth in depths:\n    for _ in range(depth):\n        if turn == 20:\n"
        "            self.part = Bad()\n        turn += 1",
        ", depths",
    ),
    "three answers together": _made(
        "self.kept = a, b, c\nif a:\n    self.one = nn.ReLU()\nif b:\n    self.two = nn.ReLU()\n"
        "if c:\n    self.three = nn.ReLU()\nif not a and b and not c:\n    self.part = Bad()",
        ", a: bool, b: bool, c: bool",
    ),
    "one of a list": _made("self.part = [nn.Identity, nn.ReLU, Bad][which]()", ", which: int"),
    "one of a long tuple": _made(f"self.part = ({'nn.Identity, ' * 9}Bad)[which]()", ", which: int"),
}


@pytest.mark.parametrize("name", MADE)
def test_what_a_constructor_may_make_is_no_promise(judged, name: str) -> None:
    assert judged(MADE[name]).script != "ok"


def test_a_short_list_that_is_repeated_is_told_apart(judged) -> None:
    code = "for item in [nn.Identity] * 300 + [{}]:\n    self.part = item()"
    assert judged(_made(code.format("Bad"))).script == "blocked"
    assert judged(_made(code.format("nn.ReLU"))).script == "ok"


_LAYERS = """
class Level(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.inner = Level(depth - 1) if depth else nn.{}

    def forward(self, x):
        return self.inner(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.level = Level({})

    def forward(self, x):
        return self.level(x)
"""


@pytest.mark.parametrize("depth", [2, 5, 8])
def test_a_module_within_its_like_is_followed_to_the_innermost(judged, depth: int) -> None:
    assert judged(_LAYERS.format("Dropout(0.5)", depth)).mode == "dependent"
    assert judged(_LAYERS.format("Linear(3, 3)", depth)).mode == "independent"


def test_what_nests_too_deeply_is_not_known(judged) -> None:
    nested = _made(
        "layer = nn.Dropout(0.5)\nfor _ in range(60):\n    layer = nn.Sequential(layer)\nself.part = layer"
    )
    assert judged(nested).mode == "unknown"


def _called(code: str, setup: str = "pass") -> str:
    return f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        {setup}

    def forward(self, x):
{textwrap.indent(textwrap.dedent(code), " " * 8)}
"""


_HIT = "if x.sum() > 0:\n            x = F.dropout(x, 0.5, self.training) * 2"
CALLED = {
    "a late turn of a while": f"i = 0\nwhile i < 100:\n    if i == 70:\n        {_HIT}\n    i += 1\nreturn x",
    "a turn of an endless while": (
        f"i = 0\nwhile True:\n    if i == 5:\n        {_HIT}\n    i += 1\n    if i > 9:\n        break\nreturn x"
    ),
    "a row": f"for i, row in enumerate(self.rows):\n    if i == 5:\n        {_HIT}\nreturn x",
    "a row that is counted": (
        f"i = 0\nfor row in self.rows:\n    if i == 5:\n        {_HIT}\n    i += 1\nreturn x"
    ),
    "a late piece": f"for i, piece in enumerate(self.rows.chunk(9)):\n    if i == 7:\n        {_HIT}\nreturn x",
}


@pytest.mark.parametrize("name", CALLED)
def test_what_a_late_turn_of_a_forward_does_is_no_promise(judged, name: str) -> None:
    result = judged(_called(CALLED[name], "self.register_buffer('rows', torch.zeros(9, 3))"))
    assert result.mode != "independent"
    assert result.trace != "safe"


def test_a_turn_that_only_counts_is_independent(judged) -> None:
    counting = "i = 0\nwhile x.abs().sum() > i:\n    i += 1\nreturn x * 2"
    assert judged(_called(counting)).mode == "independent"
