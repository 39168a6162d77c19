"""Keywords that come out of what nobody has read: parameters that are not given may have another value than their default."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest
import torch

from tsguard.analysis.python import Program
from tsguard.judges.script import judge_script
from tsguard.project import Project
from tsguard.project.targets import find_target

FILE = """\
import json
from dataclasses import dataclass
from torch import nn


class Part(nn.Module):
    def __init__(self, width=4, mixed=False):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.table = {{"a": 1, 2: 3}} if mixed else None

    def forward(self, x):
        if self.table is not None:
            x = x * self.table["a"]
        return self.linear(x)


class Settings:
    def __init__(self, *args, width=4, mixed=False):
        if len(args) > 0:
            raise TypeError("keywords only")
        self.mixed = mixed


@dataclass
class Record:
    width: int = 4
    mixed: bool = False


def load(path):
    with open(path) as file:
        return json.load(file)


class Looped:
    def __init__(self, **given):
        self.mixed = False
        for name, value in given.items():
            setattr(self, name, value)


def merged(config):
    known = {{"mixed": False}}
    for name in config:
        known[name] = config[name]
    return known


class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.part = {made}

    def forward(self, x):
        return self.part(x)
"""
OPEN = {
    "Part(**config)": "config['mixed']",
    "Part(width=3, **config)": "config['mixed']",
    "Part(3, **config['part'])": "config['part']['mixed']",
    "Part(**dict(config, width=3))": "config['mixed']",
    "Part(**{**config, 'width': 3})": "config['mixed']",
    "Part(3, Settings(**load('net.json')).mixed)": "load('net.json')['mixed']",
    "Part(3, Record(width=3, **load('net.json')).mixed)": "load('net.json')['mixed']",
}
LIKELY = {
    "Part(3, getattr(config, 'mixed', False))": "config.mixed",
    "Part(3, config.get('mixed', False))": "config.get('mixed', False)",
    "Part(3, {'mixed': False, **config}['mixed'])": "config['mixed']",
    "Part(3, dict({'mixed': False}, **config)['mixed'])": "config['mixed']",
}
LOOPED = ["Part(3, Looped(**config).mixed)", "Part(3, merged(config)['mixed'])"]
CLOSED = [
    "Part(3, Looped(width=3).mixed)",
    "Part(3, merged({'width': 3})['mixed'])",
    "Part(mixed=False, **config)",
    "Part(**{'width': 3})",
    "Part(3, Settings(width=3).mixed)",
]


def judged(tmp_path: Path, made: str) -> tuple[str, set[str | None]]:
    path = tmp_path / "net.py"
    path.write_text(FILE.format(made=made))
    project = Project((tmp_path,))
    outcome = judge_script(Program(project, "2.13"), find_target(project.module(path), "Net"))
    return outcome.verdict, {when for _, when in outcome.events}


@pytest.mark.parametrize("made", OPEN)
def test_what_is_not_given_may_be_among_them(tmp_path: Path, made: str) -> None:
    assert judged(tmp_path, made) == ("depends", {OPEN[made]})


@pytest.mark.parametrize("made", LIKELY)
def test_what_is_named_beside_an_unread_mapping_is_only_likely(tmp_path: Path, made: str) -> None:
    assert judged(tmp_path, made) == ("depends", {LIKELY[made]})


@pytest.mark.parametrize("made", LOOPED)
def test_a_loop_over_an_unread_mapping_may_set_what_was_named_before(tmp_path: Path, made: str) -> None:
    assert judged(tmp_path, made) == ("depends", {"config['mixed']"})


@pytest.mark.parametrize("made", CLOSED)
def test_what_is_given_or_cannot_be_among_them_is_known(tmp_path: Path, made: str) -> None:
    assert judged(tmp_path, made) == ("ok", set())


class Config(dict):
    """A configuration whose values are items and attributes."""

    __getattr__ = dict.__getitem__


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("made", [*OPEN, *LIKELY, *LOOPED])
def test_torch_takes_it_or_not_by_what_the_mapping_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: str
) -> None:
    path = tmp_path / "net.py"
    path.write_text(FILE.format(made=made))
    monkeypatch.chdir(tmp_path)
    for mixed in (False, True):
        held = {"mixed": mixed}
        (tmp_path / "net.json").write_text(json.dumps(held))
        names = runpy.run_path(str(path))
        config = Config(held, part=held) if "'part'" in made else Config(held)
        if mixed:
            with pytest.raises(RuntimeError):
                torch.jit.script(names["Net"](config))
        else:
            torch.jit.script(names["Net"](config))
