"""What scripts, or traces, and cannot be saved: each form is compiled and saved by torch."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
import torch

import tsguard
from tests.rules.on_torch import load

HEAD = """
import enum
import functools
from typing import NamedTuple, Optional, Tuple

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, gradient):
        return 2 * gradient


class Outer(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return Double.apply(x)

    @staticmethod
    def backward(ctx, gradient):
        return 2 * gradient


double = Double.apply


def doubled(x):
    function = Double.apply
    return function(x)


def either(x, other: Tensor = None):
    return x


@torch.jit.script
def compiled(x, other: Tensor = None):
    return x


@torch.jit.script_if_tracing
def compiled_in_a_trace(x, other=None):
    return x


@torch.jit.script
def compiled_by_comment(x, other=None):
    # type: (Tensor, Optional[Tensor]) -> Tensor
    return x


@torch.jit.script
def compiled_with_options(x, other: Optional[Tensor] = None, number: int = 2):
    return x


@functools.lru_cache
def cached(x: Tensor):
    return 2 * x


class Part(nn.Module):
    def forward(self, x, mask=None):
        return x


class Pair(NamedTuple):
    first: Tensor
    second: Tensor = None


def hook(module, inputs: Tuple[Tensor], output: Tensor = None):
    return output


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.flag = False
        {made}

    @torch.jit.ignore
    def ignored(self, x: Tensor, other: Tensor = None) -> Tensor:
        return x

    @torch.jit.unused
    def unused(self, x: Tensor, other: Tensor = None) -> Tensor:
        return x

    def helper(self, x, other=None):
        return x

    def optional(self, x, other: Optional[Tensor] = None):
        return x

    {method}

    def forward(self, x{parameters}):
        {body}
"""
SCRIPTED = {
    "apply": "return Double.apply(x)",
    "alias": "return double(x)",
    "local alias": "return doubled(x)",
    "cached": "return cached(x)",
    "ignored": "return self.ignored(x, x)",
    "in training": "return self.ignored(x, x) if self.training else x",
    "behind a flag": "if self.flag:\n            x = Double.apply(x)\n        return x",
    "default of a function": "return either(x, x)",
    "default of a method": "return self.helper(x, x)",
    "not while scripting": "return x if torch.jit.is_scripting() else self.ignored(x, x)",
    "of eager alone": "if not torch.jit.is_scripting():\n            x = Double.apply(x)\n        return x",
    "unused": "if x.dim() > 9:\n            x = self.unused(x, x)\n        return x",
    "optional": "return self.optional(x)",
    "a field's default": "return Pair(x, x).first",
    "nothing": "return x",
}
SAVED = ("not while scripting", "of eager alone", "unused", "optional", "a field's default", "nothing")
TRACED = {
    "apply": "return Double.apply(x)",
    "alias": "return double(x)",
    "local alias": "return doubled(x)",
    "of another": "return Outer.apply(x)",
    "reentrant": "return checkpoint(torch.relu, x, use_reentrant=True)",
    "in training": "return Double.apply(x) if self.training else x",
    "ignored": "return self.ignored(x)",
    "cached": "return cached(x)",
    "default": "return either(x)",
    "compiled": "return compiled(x, x)",
    "compiled if tracing": "return compiled_in_a_trace(x, x)",
    "scripted": "return self.scripted(x, x)",
    "compiled by a comment": "return compiled_by_comment(x)",
    "compiled with options": "return compiled_with_options(x)",
    "not reentrant": "return checkpoint(torch.relu, x, use_reentrant=False)",
    "of eager alone": "return 2 * x if torch.jit.is_tracing() else Double.apply(x)",
}
SAVED_TRACES = (
    *("in training", "ignored", "cached", "default", "compiled with options", "not reentrant"),
    *("of eager alone", "compiled by a comment"),
)
COMPILED = [
    ("parameters", ", mask=None", False),
    ("parameters", ", mask: Tensor = None", False),
    ("parameters", ", mask: Optional[Tensor] = None", True),
    ("made", "self.part = Part()", False),  # compiled, though nothing calls it
    ("made", "self.parts = nn.ModuleList([Part()])", False),
    ("made", "self.norm = nn.CrossMapLRN2d(2)", False),
    ("made", "self.norm = nn.LocalResponseNorm(2)", True),
    ("made", "self.norm = nn.ReLU(); self.norm.register_forward_hook(hook)", True),
    ("method", "@torch.jit.export\n    def other(self, x, mask=None):\n        return x", False),
    (
        "method",
        "@torch.jit.export\n    def other(self, x, mask: Optional[Tensor] = None):\n        return x",
        True,
    ),
    ("method", "def other(self, x, mask=None):\n        return x", True),
]


def written(tmp_path: Path, **parts: str) -> Path:
    path = tmp_path / "model.py"
    defaults = {"made": "pass", "method": "", "parameters": "", "body": "return x"}
    text = HEAD
    for name, part in {**defaults, **parts}.items():
        text = text.replace(f"{{{name}}}", part)
    path.write_text(text, encoding="utf-8")
    return path


def findings(path: Path) -> tuple[tsguard.Finding, ...]:
    return tsguard.lint([f"{path}:Net"], isolated=True).findings


def said(path: Path, code: str) -> bool:
    return any(finding.code == code for finding in findings(path))


def is_saved(made: Any) -> bool:
    try:
        torch.jit.save(made, io.BytesIO())
    except RuntimeError:
        return False
    return True


def check_script(path: Path, saves: bool) -> None:
    assert is_saved(torch.jit.script(load(str(path)).Net())) == saves
    assert said(path, "TSG1011") != saves


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("form", SCRIPTED)
def test_what_a_script_calls(tmp_path: Path, form: str) -> None:
    check_script(written(tmp_path, body=SCRIPTED[form]), form in SAVED)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("part", "text", "saves"), COMPILED)
def test_what_else_a_script_compiles(tmp_path: Path, part: str, text: str, saves: bool) -> None:
    check_script(written(tmp_path, **{part: text}), saves)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("form", TRACED)
def test_what_a_trace_calls(tmp_path: Path, form: str) -> None:
    scripted = "self.scripted = torch.jit.script(Part())" if form == "scripted" else "pass"
    path = written(tmp_path, made=scripted, body=TRACED[form])
    made = torch.jit.trace(load(str(path)).Net().eval(), torch.ones(2, 3), check_trace=False)
    assert is_saved(made) == (form in SAVED_TRACES)
    assert said(path, "TSG241") != (form in SAVED_TRACES)


def test_a_test_for_none_that_is_told_of_is_enough(tmp_path: Path) -> None:
    path = written(tmp_path, parameters=", mask=None", body="return x if mask is None else x + mask")
    codes = [finding.code for finding in findings(path) if finding.family == "script"]
    assert codes == ["TSG185"]
