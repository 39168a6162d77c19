"""The conditions that findings are told with: what they rest on, and what torch does where they hold and do not."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.rules.on_torch import load
from tsguard.analysis.python import Program
from tsguard.judges.judgement import Judgement, judge
from tsguard.project import Project
from tsguard.project.targets import find_target

HEAD = """\
from enum import Enum

import torch
from torch import nn


class Kind(Enum):
    A = 0
    B = 1


class Identity(nn.Module):
    def __init__(self, size=1):
        super().__init__()

    def forward(self, x):
        return x


class Bad(nn.Module):
    def forward(self, x, **options):
        return x


class Padded(nn.Module):
    def __init__(self, pad="zero"):
        super().__init__()
        if pad == "zero":
            self.pad = nn.ZeroPad2d(1)
        elif pad == "reflect":
            self.pad = nn.ReflectionPad2d(1)

    def forward(self, x):
        return self.pad(x)


class Net(nn.Module):
    def __init__(self, {parameters}):
        super().__init__()
{body}

    def forward(self, x):
        return self.layer(x)
"""


def _path(folder: Path, parameters: str, body: str) -> Path:
    path = folder / "model.py"
    lines = textwrap.indent(textwrap.dedent(body).strip("\n"), " " * 8)
    path.write_text(HEAD.replace("{parameters}", parameters).replace("{body}", lines), encoding="utf-8")
    return path


def _judged(path: Path) -> Judgement:
    project = Project((path.parent,))
    return judge(Program(project), find_target(project.module(path), "Net"))


def _takes(module: Any, arguments: str) -> bool:
    made = eval(f"module.Net({arguments})", {"module": module, "Kind": module.Kind})
    try:
        torch.jit.script(made)
    except Exception:
        return False
    return True


@pytest.mark.parametrize(
    ("parameters", "body", "when", "refused", "taken"),
    [
        (  # each of two answers alone leads away from it
            "stride=1, inner=4, outer=4",
            """
            if stride != 1 or inner != outer:
                self.layer = nn.Conv2d(inner, outer, 1, stride)
            else:
                self.layer = lambda x: x
            """,
            "stride == 1 and inner == outer",
            ["", "1, 4, 4"],
            ["2", "1, 4, 8"],
        ),
        (
            "n=1, kind='a'",
            """
            if n >= 2:
                self.layer = nn.ReLU()
            elif kind == "b":
                self.layer = nn.Tanh()
            else:
                self.layer = lambda x: x
            """,
            "n < 2 and kind != 'b'",
            ["1", "1, 'c'"],
            ["2", "1, 'b'"],
        ),
        (  # only both lead away
            "a=False, b=False",
            "self.layer = nn.ReLU() if a and b else Bad()",
            "not (a and b)",
            ["", "True", "False, True"],
            ["True, True"],
        ),
        (  # either leads to it
            "p=0.0, kind='a'",
            "self.kind = kind\nself.layer = Bad() if kind == 'b' or p > 0 else nn.ReLU()",
            "kind == 'b' or p > 0",
            ["0.5", "0.0, 'b'"],
            ["", "0.0, 'c'"],
        ),
        (  # two are asked together, and each was asked alone before
            "res=False, drop=0.0",
            """
            self.drop = nn.Dropout(drop) if drop > 0 else nn.Identity()
            self.norm = nn.ReLU() if res else nn.Identity()
            self.layer = Bad() if res and drop > 0 else nn.ReLU()
            """,
            "res and drop > 0",
            ["True, 0.5"],
            ["", "True", "False, 0.5"],
        ),
        (  # one is kept, so that compiling asks for it too
            "relative=False, window=None",
            "self.window = window\nself.layer = Bad() if relative and window is not None else nn.ReLU()",
            "relative and window is not None",
            ["True, 2"],
            ["", "True", "False, 2"],
        ),
        (  # a branch of many
            "act='relu'",
            """
            if act == "relu":
                self.layer = nn.ReLU()
            elif act == "gelu":
                self.layer = nn.GELU()
            elif act == "silu":
                self.layer = nn.SiLU()
            elif act == "tanh":
                self.layer = nn.Tanh()
            elif act == "elu":
                self.layer = nn.ELU()
            else:
                self.layer = Bad()
            """,
            "act != 'relu' and act != 'gelu' and act != 'silu' and act != 'tanh' and act != 'elu'",
            ["'none'"],
            ["", "'elu'"],
        ),
        (  # what is asked of a submodule that no argument fits tells nothing of the module
            "pad='zero', head='avg'",
            """
            padded = Padded(pad)
            if head == "avg":
                self.layer = nn.Sequential(padded, nn.AdaptiveAvgPool2d(1))
            elif head == "max":
                self.layer = nn.Sequential(padded, nn.AdaptiveMaxPool2d(1))
            elif head == "none":
                self.layer = nn.Sequential(padded, Bad())
            """,
            "head == 'none'",
            ["head='none'"],
            ["", "'reflect'", "'reflect', 'max'"],
        ),
        (  # what follows from it is asked for only there
            "ratio=None, dim=4",
            "self.layer = Bad() if ratio is not None and ratio > 0 and dim > 2 else nn.ReLU()",
            "ratio is not None and ratio > 0 and dim > 2",
            ["0.5", "0.5, 3"],
            ["", "0.0", "0.5, 2"],
        ),
        (  # a member of an enumeration is a default as any
            "kind: Kind = Kind.A",
            "self.layer = nn.ReLU() if kind == Kind.A else Bad()",
            "kind != Kind.A",
            ["Kind.B"],
            ["", "Kind.A"],
        ),
        (
            "kind: Kind = Kind.A",
            "self.layer = nn.ReLU() if kind is Kind.A else Bad()",
            "kind is not Kind.A",
            ["Kind.B"],
            ["", "Kind.A"],
        ),
    ],
)
def test_a_finding_says_for_which_arguments_it_holds(
    tmp_path: Path, parameters: str, body: str, when: str, refused: list[str], taken: list[str]
) -> None:
    path = _path(tmp_path, parameters, body)
    found = {finding.when for finding in _judged(path).findings if finding.family == "script"}
    assert found == {when}
    module = load(path)
    assert [_takes(module, arguments) for arguments in (*refused, *taken)] == [False] * len(refused) + [
        True
    ] * len(taken)


@pytest.mark.parametrize(
    "call", ["Identity(1, 2, 3)", "Identity(2, size=4)", "Identity(width=4)"], ids=lambda call: call
)
def test_a_call_that_python_refuses_leads_nowhere(tmp_path: Path, call: str) -> None:
    path = _path(tmp_path, "flag=False", f"self.layer = [{call}, Bad()][1] if flag else nn.ReLU()")
    assert _judged(path).script == "ok"
    with pytest.raises(TypeError):
        load(path).Net(True)


@pytest.mark.parametrize(
    "body",
    [
        "self.layer = nn.ReLU()\nif flag:\n    self.layer = lambda x: x",
        "self.layer = nn.ReLU()\nself.register_buffer('scale', None)\nif flag:\n    self.scale = [Bad()]",
        "self.layer = nn.Linear(2, 2)\nif flag:\n    self.layer.bias = False\n    self.layer = Bad()",
    ],
)
def test_what_is_registered_is_replaced_by_its_like_only(tmp_path: Path, body: str) -> None:
    path = _path(tmp_path, "flag=False", body)
    assert _judged(path).script == "ok"
    with pytest.raises(TypeError):
        load(path).Net(True)


@pytest.mark.parametrize(
    ("body", "forward", "verdict"),
    [
        ("self.act = config.get('act')", "x if self.act == 'relu' else -x", "depends"),
        ("self.act = config.get('act', None)", "x if self.act == 'relu' else -x", "depends"),
        ("self.act = getattr(config, 'act', None)", "x if self.act == 'relu' else -x", "depends"),
        ("self.act = config.get('act', 'relu')", "x if self.act == 'relu' else -x", "ok"),
        ("self.act = config.get('act')", "x if self.act is not None else -x", "ok"),
    ],
)
def test_what_is_looked_up_may_be_absent(tmp_path: Path, body: str, forward: str, verdict: str) -> None:
    path = _path(tmp_path, "config", body)
    path.write_text(path.read_text().replace("return self.layer(x)", f"return {forward}"))
    assert _judged(path).script == verdict


@pytest.mark.parametrize(
    ("parameters", "body"),
    [
        ("*layers", "self.layer = nn.Sequential(*layers)"),
        ("*layers", "self.layer = nn.ModuleList(layers)[0]"),
        ("size, *layers", "self.layer = nn.Sequential(nn.Linear(size, size), *layers)"),
    ],
)
def test_starred_arguments_are_not_none_at_all(tmp_path: Path, parameters: str, body: str) -> None:
    judgement = _judged(_path(tmp_path, parameters, body))
    assert judgement.script == "unknown"
    assert any("*layers are arguments of the constructor" in unknown.why for unknown in judgement.unknown)


def test_a_wrapper_that_passes_its_arguments_on_leaves_the_defaults(tmp_path: Path) -> None:
    """``wrapper(self, *args, **kwargs)`` may be given none at all, and is, mostly."""
    path = _path(tmp_path, "kind='relu'", "self.layer = nn.ReLU() if kind.startswith('re') else Bad()")
    wrapper = """\
def wrapped(function):
    def wrapper(self, *args, **options):
        options = {name: option for name, option in options.items() if not name.startswith("_")}
        return function(self, *args, **options)

    return wrapper


class Net(nn.Module):
    @wrapped
"""
    path.write_text(path.read_text().replace("class Net(nn.Module):\n", wrapper))
    judgement = _judged(path)
    assert judgement.trace == "safe"
    assert judgement.mode == "independent"


def test_what_other_answers_say_has_no_other_answer(tmp_path: Path) -> None:
    """Who takes a text is not None: it is not asked, and not turned."""
    body = "self.act = act\nself.layer = chosen(act or 'linear')()"
    path = _path(tmp_path, "act=None", body)
    chosen = """\
def chosen(name):
    if name is None:
        return nn.Identity
    if callable(name):
        return name
    if isinstance(name, str):
        return {"linear": nn.ReLU, "bad": Bad}.get(name)
    raise ValueError(name)


class Net(nn.Module):
"""
    forward = "x if self.act is None or self.act == 'linear' else self.layer(x)"
    text = path.read_text().replace("class Net(nn.Module):\n", chosen)
    path.write_text(text.replace("return self.layer(x)", f"return {forward}"))
    assert _judged(path).script == "blocked"
    assert not _takes(load(path), "")
