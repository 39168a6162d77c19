"""What a target changes deep within something that modules define is seen by no other target."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.torch_here import RELEASE
from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

_SOURCE = """
import collections
import types

from torch import nn


class Bad(nn.Module):
    def forward(self, x):
        return lambda: x


class Held:
    def __init__(self, part):
        self.part = part


def nested():
    return collections.defaultdict(nested)


{defined}


class First(nn.Module):
    def __init__(self):
        super().__init__()
        {changed}

    def forward(self, x):
        return x


class Second(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = {read}()

    def forward(self, x):
        return self.part(x)
"""

CHANGES = {
    "a dict in a dict": ("T = {'a': {'b': nn.ReLU}}", "T['a']['b'] = Bad", "T['a']['b']"),
    "five dicts deep": (
        "T = {'a': {'a': {'a': {'a': {'b': nn.ReLU}}}}}",
        "T['a']['a']['a']['a']['b'] = Bad",
        "T['a']['a']['a']['a']['b']",
    ),
    "a list in a tuple": ("T = ((nn.ReLU, [nn.ReLU]),)", "T[0][1][0] = Bad", "T[0][1][0]"),
    "added to a list in a list": ("T = [[nn.ReLU]]", "T[0].append(Bad)", "T[0][-1]"),
    "by another name": ("T = {'a': [nn.ReLU]}", "own = T['a']\n        own[0] = Bad", "T['a'][0]"),
    "objects in objects": (
        "T = Held(Held(Held(Held(nn.ReLU))))",
        "T.part.part.part.part = Bad",
        "T.part.part.part.part",
    ),
    "namespaces in namespaces": (
        "N = types.SimpleNamespace\nT = N(a=N(a=N(a=N(a=nn.ReLU))))",
        "T.a.a.a.a = Bad",
        "T.a.a.a.a",
    ),
    "in a class": (
        "class T:\n    parts = {'a': {'b': nn.ReLU}}",
        "T.parts['a']['b'] = Bad",
        "T.parts['a']['b']",
    ),
    "made by looking it up": ("T = nested()", "T['a']['b'] = Bad", "T['a'].get('b', nn.ReLU)"),
    "set where it was not": ("T = {'a': {}}", "T['a']['b'] = Bad", "T['a'].get('b', nn.ReLU)"),
    "taken out": ("T = {'a': {'b': nn.ReLU}}", "del T['a']['b']", "T['a'].get('b', Bad)"),
}


def scripts(tmp_path: Path, change: tuple[str, str, str], *targets: str) -> list[str]:
    """The verdicts of targets of one file, judged one after the other."""
    defined, changed, read = change
    path = tmp_path / "net.py"
    path.write_text(_SOURCE.format(defined=defined, changed=changed, read=read), encoding="utf-8")
    project = Project((tmp_path,))
    program = Program(project, RELEASE)
    return [judge(program, find_target(project.module(path), target)).script for target in targets]


@pytest.mark.parametrize("name", CHANGES)
def test_it_is_as_it_was_defined_for_the_next_target(tmp_path: Path, name: str) -> None:
    assert scripts(tmp_path, CHANGES[name], "First", "Second", "First", "Second") == ["ok"] * 4


def test_a_target_sees_its_own_changes(tmp_path: Path) -> None:
    change = ("T = {'a': {'b': nn.ReLU}}", "pass", "T['a'].update(b=Bad) or T['a']['b']")
    assert scripts(tmp_path, change, "Second") == ["blocked"]
