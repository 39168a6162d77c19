"""What ``lint --fix`` writes is right for all arguments and callers: what may be wrong for some waits for ``--unsafe-fixes``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsguard.repairing.fixing import fix
from tsguard.settings.config import Settings
from tsguard.settings.requests import parse, plan

HEAD = """\
from dataclasses import dataclass
from typing import List, Optional

import torch
import torch.nn.functional as F
from torch import Tensor, nn


"""

RESTING_ON_ARGUMENTS = {
    "a conversion of what may be None": """\
class Net(nn.Module):
    def __init__(self, scale=None, size=None):
        super().__init__()
        self.scale = scale
        self.size = size

    def forward(self, x):
        return F.interpolate(x, size=self.size, scale_factor=self.scale)
""",
    "a type that one of two layers asks for": """\
class Net(nn.Module):
    def __init__(self, kind="GRU"):
        super().__init__()
        self.rnn = nn.LSTM(2, 2) if kind == "LSTM" else nn.GRU(2, 2)

    def forward(self, x, h=None):
        x, h = self.rnn(x, h)
        return x, h
""",
    "a type that one of two callers asks for": """\
class Both(nn.Module):
    def forward(self, x):
        return x, x


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.both = Both()

    def forward(self, x):
        return self.both(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(2, 2)
        self.both = Both()

    def forward(self, x):
        return self.both(self.rnn(x))
""",
    "a declaration that does not take the first value": """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = 1.0

    def forward(self, x):
        self.last = x
        return x
""",
    "a field of a dataclass": """\
@dataclass(eq=False)
class Net(nn.Module):
    size: int = 4
    act: Optional[nn.Module] = None

    def __new__(cls, *args, **kwargs):
        made = super().__new__(cls)
        nn.Module.__init__(made)
        return made

    def __post_init__(self):
        self.fc = nn.Linear(self.size, self.size)

    def forward(self, x: Tensor):
        return self.fc(x)
""",
}


def _fixed(folder: Path, text: str, *, unsafe: bool) -> str:
    path = folder / "net.py"
    path.write_text(HEAD + text, encoding="utf-8")
    settings = Settings(root=folder, jobs=1, cache=False)
    fix(plan([parse(str(path), settings)], settings), settings, unsafe=unsafe)
    return path.read_text(encoding="utf-8")[len(HEAD) :]


@pytest.mark.parametrize("text", RESTING_ON_ARGUMENTS.values(), ids=RESTING_ON_ARGUMENTS)
def test_what_is_right_for_some_arguments_only_is_left_as_it_is(tmp_path: Path, text: str) -> None:
    assert _fixed(tmp_path, text, unsafe=False) == text


def test_what_is_added_where_alone_it_is_missing_is_right_for_all(tmp_path: Path) -> None:
    text = """\
class Net(nn.Module):
    def __init__(self, use_pad: bool = False):
        super().__init__()
        self.use_pad = use_pad
        if use_pad:
            self.pad = nn.ZeroPad2d(1)

    def forward(self, x: Tensor) -> Tensor:
        if self.use_pad:
            x = self.pad(x)
        return x
"""
    assert _fixed(tmp_path, text, unsafe=False) != text


@pytest.mark.parametrize("kept", ["self.names = names", "self.names: List[str] = names"])
def test_an_empty_list_is_declared_as_the_constructor_says(tmp_path: Path, kept: str) -> None:
    text = f"""\
class Net(nn.Module):
    def __init__(self, names: List[str] = []):
        super().__init__()
        {kept}

    def forward(self, x):
        return x * 2 if len(self.names) > 1 else x
"""
    assert "\n    names: List[str]\n" in _fixed(tmp_path, text, unsafe=True)
