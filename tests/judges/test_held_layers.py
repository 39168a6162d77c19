"""Layers that a layer of torch holds, and what attention returns: torch is asked of each."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
import torch

from tsguard.analysis.python import Program
from tsguard.judges.judgement import Judgement, judge
from tsguard.project import Project
from tsguard.project.targets import find_target

UNTOLD = """\
from torch import nn


class Net(nn.Module):
    def __init__(self, layers, both):
        super().__init__()
        self.rnn = nn.GRU(4, 4, {given})

    def forward(self, x):
        return self.rnn(x)[0] * self.rnn.{name}[0]
"""
FILE = """\
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(4, 2)
        self.stack = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2), 2, enable_nested_tensor=False)
        self.attention = nn.MultiheadAttention(4, 2)
        self.split = nn.MultiheadAttention(4, 2, kdim=3, vdim=3)
        self.lstm = nn.LSTM(4, 4, 2, bidirectional=True, proj_size=2)
        self.gru = nn.GRU(4, 4, bias=False)

    def attend(self, x, need_weights: bool):
        m = self.attention
        return F.multi_head_attention_forward(
            x, x, x, 4, 2, m.in_proj_weight, m.in_proj_bias, None, None, False, 0.0, m.out_proj.weight,
            m.out_proj.bias, need_weights=need_weights,
        )

    def forward(self, x):
{body}
"""
HELD = [
    "return x @ self.layer.linear1.weight.t()",
    "return x * self.layer.norm1.weight * self.layer.self_attn.head_dim",
    "return x * self.attention.out_proj.weight[0] * self.attention.out_proj.in_features",
    "return x * self.layer.self_attn.in_proj_weight[0]",
    "return self.attention.out_proj(x)",
    "return x @ self.split.q_proj_weight",
    "return x * self.lstm.bias_hh_l1_reverse[:4] * self.lstm.weight_hr_l1[0, 0]",
    "return x @ self.gru.weight_ih_l0[:4]",
    "for layer in self.stack.layers:\n    x = layer(x)\nreturn x * self.stack.num_layers",
]
REFUSED = [
    "return self.attention(x, x, x, need_weights=False)",
    "return self.attention(x, x, x, None, False)",
    "y, weights = self.attention(x, x, x, need_weights=False)\nreturn y, {'weights': weights}",
    "return self.attend(x, False)",
]
TRACED = [
    "return self.attention(x, x, x)",
    "return self.attention(x, x, x, need_weights=False)[0]",
    "y, weights = self.attention(x, x, x, need_weights=False)\nreturn y if weights is None else y * 2",
    "return self.attend(x, True)",
]


def judged(tmp_path: Path, body: str) -> tuple[Path, Judgement]:
    path = tmp_path / "net.py"
    path.write_text(FILE.format(body="".join(f"        {line}\n" for line in body.splitlines())))
    project = Project((tmp_path,))
    return path, judge(Program(project, "2.13"), find_target(project.module(path), "Net"))


def traced(path: Path) -> None:
    torch.jit.trace(runpy.run_path(str(path))["Net"]().eval(), (torch.ones(3, 1, 4),))


@pytest.mark.filterwarnings("ignore")
class TestHeld:
    @pytest.mark.parametrize("body", HELD)
    def test_a_held_layer_has_its_parameters_and_attributes(self, tmp_path: Path, body: str):
        path, judgement = judged(tmp_path, body)
        assert judgement.script == "ok"
        torch.jit.script(runpy.run_path(str(path))["Net"]())

    @pytest.mark.parametrize(
        "body",
        [
            "return x * self.attention.out_proj.scale",
            "return x @ self.split.in_proj_weight",
            "return x @ self.attention.q_proj_weight",
            "return x * self.lstm.bias_hh_l2",
            "return x * self.gru.bias_hh_l0",
            "return x @ self.gru.weight_ih_l0_reverse",
        ],
    )
    def test_it_has_no_others(self, tmp_path: Path, body: str):
        path, judgement = judged(tmp_path, body)
        assert judgement.script == "blocked"
        with pytest.raises(RuntimeError):
            torch.jit.script(runpy.run_path(str(path))["Net"]())

    @pytest.mark.parametrize(
        ("given", "name"),
        [
            ("layers", "bias_ih_l1"),
            ("bidirectional=both", "weight_hh_l0_reverse"),
            ("bias=both", "bias_ih_l0"),
        ],
    )
    def test_what_an_argument_tells_is_not_known(self, tmp_path: Path, given: str, name: str):
        text = UNTOLD.format(given=given, name=name)
        (tmp_path / "net.py").write_text(text)
        project = Project((tmp_path,))
        program = Program(project, "2.13")
        judgement = judge(program, find_target(project.module(tmp_path / "net.py"), "Net"))
        assert judgement.script == "unknown"
        net = runpy.run_path(str(tmp_path / "net.py"))["Net"]
        torch.jit.script(net(2, True))
        with pytest.raises(RuntimeError):
            torch.jit.script(net(1, False))


@pytest.mark.filterwarnings("ignore")
class TestWeights:
    @pytest.mark.parametrize("body", REFUSED)
    def test_what_nobody_needs_is_none_and_no_trace_returns_it(self, tmp_path: Path, body: str):
        path, judgement = judged(tmp_path, body)
        assert judgement.trace == "hazardous"
        with pytest.raises(RuntimeError):
            traced(path)

    @pytest.mark.parametrize("body", TRACED)
    def test_what_is_needed_or_left_out_is_traced(self, tmp_path: Path, body: str):
        path, judgement = judged(tmp_path, body)
        assert judgement.trace == "safe"
        traced(path)
