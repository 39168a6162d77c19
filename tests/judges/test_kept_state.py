"""What a forward keeps in its module: stale only where a call reads what an earlier one left."""

import textwrap
from pathlib import Path

import pytest

from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.judges.judgement import Judgement
from tsguard.project import Project
from tsguard.project.targets import find_target

MODULE = """
import torch
from torch import nn

TABLE = torch.ones(4)

def put(module):
    module.ready = True


class Net(nn.Module):
    steps = 0

    def __init__(self, scale=2, cached=True):
        super().__init__()
        self.scale, self.cached, self.ready = scale, cached, False
        self.kept = self.other = None
        self.table, self.tables = torch.ones(4), [torch.ones(4)]
        self.weight = nn.Parameter(torch.ones(4))
        self.weights = nn.ParameterList([nn.Parameter(torch.ones(4))])

    def renew(self, x):
        self.kept = x

    def renew_some(self, x):
        if x.sum() > 0:
            return
        self.kept = x

    def forward(self, x):
{body}
"""


@pytest.fixture
def judged(tmp_path: Path):
    def of(body: str) -> Judgement:
        path = tmp_path / "model.py"
        path.write_text(MODULE.replace("{body}", textwrap.indent(body, " " * 8)), encoding="utf-8")
        project = Project((tmp_path,))
        return judge(Program(project), find_target(project.module(path), "Net"))

    return of


@pytest.mark.parametrize(
    ("body", "trace"),
    [
        ("if self.scale > 0:\n    self.kept = x\n    x = x * self.kept\nreturn x * 2", "safe"),
        (
            "if self.cached:\n    self.kept = x\nx = x * 2\nif self.cached:\n    x = x + self.kept\nreturn x",
            "safe",
        ),
        (
            "if not self.ready:\n    self.kept = x * 2\n    self.ready = True\nreturn x + self.kept",
            "hazardous",
        ),
        ("if not self.ready:\n    self.kept = x * 2\n    put(self)\nreturn x + self.kept", "hazardous"),
        (
            "if not self.ready:\n    self.kept = x\ny = x + self.kept\nself.ready = True\nreturn y",
            "hazardous",
        ),
        (
            "if not self.ready:\n    self.kept = x\n    setattr(self, 'ready', True)\nreturn x + self.kept",
            "hazardous",
        ),
    ],
)
def test_what_is_kept_under_a_setting_is_read_anew_under_it(judged, body: str, trace: str) -> None:
    assert judged(body).trace == trace


@pytest.mark.parametrize(
    "body",
    [
        "self.kept = x\nself.kept = self.kept + 1\nreturn self.kept * 1",
        "self.kept = x\nself.kept *= 2\nreturn self.kept * 1",
        "self.renew(x)\nfor i in range(3):\n    self.kept = self.kept + x\nreturn self.kept * 1",
        "if self.scale > 0:\n    self.kept = x\n    self.kept += 1\nreturn x * 2",
    ],
)
def test_what_a_call_sets_anew_is_not_counted_on(judged, body: str) -> None:
    assert judged(body).mode == "independent"


@pytest.mark.parametrize(
    "body",
    [
        "self.scale += 1\nreturn x * self.scale",
        "if x.sum() > 0:\n    self.scale = 1\nself.scale = self.scale + 1\nreturn x * self.scale",
        "for part in x:\n    self.scale = 1\nself.scale += 1\nreturn x * self.scale",
        "self.renew_some(x)\nself.kept = self.kept + x\nreturn self.kept",
    ],
)
def test_what_only_some_calls_set_anew_is(judged, body: str) -> None:
    assert judged(body).mode == "dependent"


@pytest.mark.parametrize(
    ("returned", "trace"),
    [
        ("self.table", "hazardous"),
        ("x * 2, self.table", "hazardous"),
        ("x * 2, (x, self.tables[0])", "hazardous"),
        ("x * 2, TABLE", "hazardous"),
        ("x * TABLE, TABLE", "safe"),
        ("x + self.table.shape[0], self.table", "safe"),
        ("torch.stack(self.tables), self.tables[0]", "safe"),
        ("self.weight", "hazardous"),
        ("self.weights[0]", "hazardous"),
        ("x * 2, self.weights[0]", "safe"),
        ("x * 2, self.weight", "safe"),
        ("x * 2, self.table * 2", "safe"),
        ("x * 2, self.table[0]", "safe"),
        ("self.kept", "safe"),
        ("x * 2 if self.table is not None else x, self.table", "hazardous"),
        ("x * self.table.dim(), self.table", "hazardous"),
        ("x.to(self.table), self.table", "hazardous"),
        ("x * self.table.ndim, self.table", "hazardous"),
        ("x * self.table.numel(), self.table", "safe"),
        ("x * len(self.table), self.table", "safe"),
        ("x.type_as(self.table), self.table", "safe"),
        ("x + sum(row for row in self.table), self.table", "safe"),
        ("x, self.table.T, self.table", "safe"),
    ],
)
def test_a_tensor_that_was_there_before_the_call_is_no_output_of_a_trace(
    judged, returned: str, trace: str
) -> None:
    assert judged(f"self.kept = x * 2\nreturn {returned}").trace == trace


@pytest.mark.parametrize(
    ("body", "trace"),
    [
        ("if self.kept is None:\n    self.kept = torch.ones(4)\nreturn x * self.kept", "safe"),
        ("if not hasattr(self, 'late'):\n    self.late = torch.ones(4)\nreturn x * self.late", "safe"),
        (
            "if self.kept is None:\n    self.kept = torch.ones(4) * x.mean()\nreturn x * self.kept",
            "hazardous",
        ),
        ("if self.kept is None:\n    self.kept = torch.rand(4)\nreturn x * self.kept", "hazardous"),
        ("if not hasattr(self, 'late'):\n    self.late = x.mean()\nreturn x * self.late", "hazardous"),
        (
            "if self.ready:\n    self.ready = False\nelse:\n    self.ready = True\nreturn x * self.ready",
            "hazardous",
        ),
        (
            "try:\n    self.late += 1\nexcept AttributeError:\n    self.late = 1\nreturn x * self.late",
            "hazardous",
        ),
        ("self.steps += 1\nreturn x * self.steps", "hazardous"),
        ("self.other = 0.0\nself.other += x.mean()\nreturn x, self.other", "safe"),
        ("y = x if self.kept is None else x * self.kept\nself.kept = x\nreturn y", "hazardous"),
        (
            "if self.kept is None:\n    self.kept = torch.zeros(4)\nself.kept = self.kept + x\nreturn self.kept * 1",
            "hazardous",
        ),
        (
            "if self.kept is None:\n    self.kept = torch.zeros(4)\nself.kept.add_(x)\nreturn x + self.kept",
            "hazardous",
        ),
        (
            "if not hasattr(self, 'late'):\n    self.late = torch.zeros(4)\nself.late += x\nreturn x + self.late",
            "hazardous",
        ),
        (
            "if not hasattr(self, 'late'):\n    self.late = torch.zeros(4)\ny = x + self.late\nself.late = y\nreturn y",
            "hazardous",
        ),
        ("if self.kept is None:\n    self.kept = 0\nself.kept += 1\nreturn x * self.kept", "hazardous"),
        (
            "n = x.shape[0]\nif self.kept is None or self.kept[0].shape[0] != n:\n"
            "    self.kept = (torch.arange(n), torch.ones(n))\na, b = self.kept\nreturn x * a[:, None] + b[:, None]",
            "safe",
        ),
        ("self.other = x.detach().cpu().numpy()\nreturn x * 2", "safe"),
        ("self.other = x.detach().cpu().numpy()\nreturn x * float(self.other.mean())", "hazardous"),
    ],
)
def test_what_is_set_up_once_holds_for_each_call_where_it_hangs_on_no_input(
    judged, body: str, trace: str
) -> None:
    assert judged(body).trace == trace


@pytest.mark.parametrize(
    ("body", "trace"),
    [
        ("with torch.no_grad():\n    self.weight.mul_(0.5)\nreturn x * self.weight", "hazardous"),
        ("with torch.no_grad():\n    self.weight[0] = 0\nreturn x * self.weight", "hazardous"),
        ("with torch.no_grad():\n    self.weight *= 2\nreturn x * self.weight", "hazardous"),
        ("nn.init.zeros_(self.weight)\nreturn x * self.weight", "hazardous"),
        ("torch.set_grad_enabled(False)\nself.weight.mul_(2)\nreturn x * self.weight", "hazardous"),
        ("with torch.no_grad():\n    self.weight.data.mul_(0.5)\nreturn x * self.weight", "hazardous"),
        ("with torch.no_grad():\n    y = self.weight * 2\nreturn x * y", "safe"),
        ("torch.no_grad()\ny = self.weight.data.mul_(2)\nreturn x * y", "safe"),
    ],
)
def test_a_trace_keeps_the_change_of_a_parameter_and_not_the_block_around_it(
    judged, body: str, trace: str
) -> None:
    assert judged(body).trace == trace


@pytest.mark.parametrize(
    ("freezing", "trace"),
    [
        ("for p in self.parameters():\n    p.requires_grad = False", "safe"),
        ("for name, p in self.named_parameters():\n    p.requires_grad_(name != 'weight')", "safe"),
        ("for name, p in self.named_parameters():\n    p.requires_grad_(name == 'weight')", "hazardous"),
        ("self.freeze = lambda: self.weight.requires_grad_(False)", "unknown"),
        ("self.weight.requires_grad = False", "safe"),
        ("self.requires_grad_(False)", "safe"),
        ("pass", "hazardous"),
    ],
)
def test_a_parameter_that_a_loop_may_have_frozen_is_left_open(
    tmp_path: Path, freezing: str, trace: str
) -> None:
    path = tmp_path / "model.py"
    body = "with torch.no_grad():\n    self.weight.mul_(0.5)\nreturn x * self.weight"
    source = MODULE.replace("{body}", textwrap.indent(body, " " * 8))
    last = "        self.weights = nn.ParameterList([nn.Parameter(torch.ones(4))])\n"
    path.write_text(source.replace(last, last + textwrap.indent(freezing, " " * 8)), encoding="utf-8")
    project = Project((tmp_path,))
    assert judge(Program(project), find_target(project.module(path), "Net")).trace == trace
