"""The table of modes, held against torch: what it says of a layer or function is what eager does."""

from __future__ import annotations

import copy
import inspect
from pathlib import Path

import pytest

from tests.torch_here import RELEASE
from tsguard.analysis.python import Program
from tsguard.judges.mode import judge_mode
from tsguard.language import modes
from tsguard.project import Project
from tsguard.project.targets import find_target

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
torch = pytest.importorskip("torch")
nn, F = torch.nn, torch.nn.functional

_FLAT, _IMAGE, _SEQUENCE = "torch.rand(4, 8)", "torch.rand(2, 4, 9, 9)", "torch.rand(5, 2, 8)"
_VIDEO = "torch.rand(2, 4, 9, 9, 9)"

LAYERS = {
    "nn.Dropout()": _FLAT,
    "nn.Dropout(0.0)": _FLAT,
    "nn.Dropout(p=0)": _FLAT,
    "nn.Dropout1d()": "torch.rand(2, 4, 9)",
    "nn.Dropout2d()": _IMAGE,
    "nn.Dropout3d()": _VIDEO,
    "nn.AlphaDropout()": _FLAT,
    "nn.FeatureAlphaDropout()": _IMAGE,
    "nn.BatchNorm1d(8)": _FLAT,
    "nn.BatchNorm1d(8, momentum=0.0)": _FLAT,
    "nn.BatchNorm1d(8, track_running_stats=False)": _FLAT,
    "nn.BatchNorm2d(4)": _IMAGE,
    "nn.BatchNorm2d(4, affine=False)": _IMAGE,
    "nn.BatchNorm3d(4)": _VIDEO,
    "nn.LazyBatchNorm1d()": _FLAT,
    "nn.LazyBatchNorm2d()": _IMAGE,
    "nn.LazyBatchNorm3d()": _VIDEO,
    "nn.InstanceNorm1d(4)": "torch.rand(2, 4, 9)",
    "nn.InstanceNorm1d(4, track_running_stats=True)": "torch.rand(2, 4, 9)",
    "nn.InstanceNorm2d(4)": _IMAGE,
    "nn.InstanceNorm2d(4, track_running_stats=True)": _IMAGE,
    "nn.InstanceNorm3d(4, track_running_stats=True)": _VIDEO,
    "nn.LazyInstanceNorm1d(track_running_stats=True)": "torch.rand(2, 4, 9)",
    "nn.LazyInstanceNorm2d()": _IMAGE,
    "nn.LazyInstanceNorm2d(track_running_stats=True)": _IMAGE,
    "nn.LazyInstanceNorm3d(track_running_stats=True)": _VIDEO,
    "nn.RReLU()": "-torch.rand(4, 8)",
    "nn.RReLU(0.2, 0.2)": "-torch.rand(4, 8)",
    "nn.RNN(8, 4)": _SEQUENCE,
    "nn.RNN(8, 4, 2, dropout=0.5)": _SEQUENCE,
    "nn.LSTM(8, 4, num_layers=2)": _SEQUENCE,
    "nn.LSTM(8, 4, num_layers=2, dropout=0.5)": _SEQUENCE,
    "nn.LSTM(8, 4, num_layers=1, dropout=0.5)": _SEQUENCE,
    "nn.GRU(8, 4, 2, True, False, 0.5)": _SEQUENCE,
    "nn.MultiheadAttention(8, 2)": "*[torch.rand(5, 2, 8)] * 3",
    "nn.MultiheadAttention(8, 2, dropout=0.5)": "*[torch.rand(5, 2, 8)] * 3",
    "nn.TransformerEncoderLayer(8, 2, 16)": _SEQUENCE,
    "nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)": _SEQUENCE,
    "nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)": _SEQUENCE,
    "nn.TransformerDecoderLayer(8, 2, 16)": "*[torch.rand(5, 2, 8)] * 2",
    "nn.TransformerDecoderLayer(8, 2, 16, 0.0)": "*[torch.rand(5, 2, 8)] * 2",
    "nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2)": _SEQUENCE,
    "nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, 0.0), 2)": _SEQUENCE,
    "nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16), 2)": "*[torch.rand(5, 2, 8)] * 2",
    "nn.Transformer(8, 2, 1, 1, 16)": "*[torch.rand(5, 2, 8)] * 2",
    "nn.Transformer(8, 2, 1, 1, 16, 0.0)": "*[torch.rand(5, 2, 8)] * 2",
    "nn.FractionalMaxPool2d(2, output_size=3)": _IMAGE,
    "nn.FractionalMaxPool3d(2, output_size=3)": _VIDEO,
    "nn.Embedding(5, 4)": "torch.tensor([1, 2])",
    "nn.Embedding(5, 4, max_norm=0.1)": "torch.tensor([1, 2])",
    "nn.EmbeddingBag(5, 4)": "torch.tensor([[1, 2]])",
    "nn.EmbeddingBag(5, 4, 0.1)": "torch.tensor([[1, 2]])",
    "nn.GroupNorm(2, 4)": _IMAGE,
    "nn.LayerNorm(8)": _FLAT,
    "nn.LocalResponseNorm(2)": _IMAGE,
    "nn.utils.spectral_norm(nn.Linear(8, 8))": _FLAT,
    "nn.utils.parametrizations.spectral_norm(nn.Linear(8, 8))": _FLAT,
    "nn.utils.parametrizations.weight_norm(nn.Linear(8, 8))": _FLAT,
    "nn.utils.parametrizations.orthogonal(nn.Linear(8, 8))": _FLAT,
    "nn.utils.remove_spectral_norm(nn.utils.spectral_norm(nn.Linear(8, 8)))": _FLAT,
    "torch.ao.quantization.FakeQuantize()": _FLAT,
    "torch.ao.quantization.MovingAverageMinMaxObserver()": _FLAT,
    "torch.ao.quantization.HistogramObserver()": _FLAT,
    "torch.ao.quantization.PlaceholderObserver()": _FLAT,
    "torch.ao.quantization.NoopObserver()": _FLAT,
}
# Needs a GPU, or is only a base class of those above.
UNTRIED = {"SyncBatchNorm"}

FUNCTIONS = [
    "F.dropout(x)",
    "F.dropout(x, 0.0)",
    "F.dropout(x, 0.5, False)",
    "F.dropout(x, training=self.training)",
    "F.dropout(x, 0.0, self.training)",
    "F.dropout(x, 0.5, not self.training)",
    "F.dropout(x, 0.5 if self.training else 0.0)",
    "F.dropout2d(x[None])",
    "F.alpha_dropout(x)",
    "F.alpha_dropout(x, 0.5, True)",
    "F.feature_alpha_dropout(x, 0.5, self.training)",
    "F.rrelu(-x)",
    "F.rrelu(-x, training=True)",
    "F.rrelu(-x, 0.2, 0.2, True)",
    "F.batch_norm(x, self.mean, self.var)",
    "F.batch_norm(x, self.mean, self.var, training=True)",
    "F.batch_norm(x, self.mean, self.var, training=self.training)",
    "F.batch_norm(x, None, None, training=True)",
    "F.instance_norm(x[None])",
    "F.instance_norm(x[None].transpose(1, 2), self.mean, self.var)",
    "F.instance_norm(x[None].transpose(1, 2), self.mean, self.var, use_input_stats=self.training)",
    "F.embedding(x.long(), self.weight)",
    "F.embedding(x.long(), self.weight, max_norm=0.1)",
    "F.scaled_dot_product_attention(x, x, x)",
    "F.scaled_dot_product_attention(x, x, x, dropout_p=0.5)",
    "F.scaled_dot_product_attention(x, x, x, None, 0.5 if self.training else 0.0)",
    "F.gumbel_softmax(x)",
    "torch.dropout(x, 0.5, self.training)",
    "torch.dropout(x, 0.5, False)",
    "torch.dropout(x, 0.5, train=True)",
    "torch.rand_like(x)",
    "torch.bernoulli(x)",
    "torch.normal(x, 1.0)",
    "torch.multinomial(x, 2)",
    "x[torch.randperm(4)]",
    "torch.empty(4).uniform_() + x.sum()",
    "x.clone().bernoulli_(0.5)",
    "torch.distributions.Normal(x, 1.0).rsample()",
    "x * random.random()",
    "x * float(np.random.rand())",
    "nn.init.normal_(torch.empty(4)) + x.sum()",
    "nn.init.zeros_(torch.empty(4)) + x.sum()",
    "torch.zeros_like(x)",
    "x * float(self.training)",
    "x + (1 if self.training else 0)",
    "x.softmax(-1)",
]

SOURCE = """\
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Target(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(8))
        self.register_buffer("var", torch.ones(8))
        self.weight = nn.Parameter(torch.rand(5, 4) + 1)
        self.layer = {layer}

    def forward(self, x, *more):
        return {result}
"""


def verdict(folder: Path, source: str) -> str:
    path = folder / "target.py"
    path.write_text(source, encoding="utf-8")
    project = Project((folder,))
    return judge_mode(Program(project, RELEASE), find_target(project.module(path), "Target")).verdict


def observed(source: str, inputs: str) -> str:
    """What eager does with a target in both modes: "dependent" or "independent"."""
    scope: dict[str, object] = {}
    exec(source, scope)
    torch.manual_seed(0)
    args = eval(f"[{inputs}]", scope)
    outcomes = [_call(scope["Target"], mode, seed, args) for mode in (True, False) for seed in (1, 2, 3)]
    first_result, _ = outcomes[0]
    states_kept = all(kept for _, kept in outcomes)
    return "independent" if states_kept and all(_same(r, first_result) for r, _ in outcomes) else "dependent"


def _call(make, mode: bool, seed: int, args):
    """The result of a call of a new target, and whether its state is what it was."""
    torch.manual_seed(0)
    target = make()
    if any(nn.parameter.is_lazy(p) for p in (*target.parameters(), *target.buffers())):
        target(*args)
    target.train(mode)
    before = copy.deepcopy(target.state_dict())
    torch.manual_seed(seed)
    result = target(*copy.deepcopy(args))
    after = target.state_dict()
    return result, all(_same(before[name], after[name]) for name in before)


def _same(one, other) -> bool:
    if isinstance(one, torch.Tensor):
        return one.shape == other.shape and torch.allclose(one, other, atol=1e-5)
    return all(map(_same, one, other)) if isinstance(one, (tuple, list)) else one == other


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_depends_on_the_mode_when_torch_shows_it(layer: str, tmp_path: Path):
    source = SOURCE.format(layer=layer, result="self.layer(x, *more)")
    assert verdict(tmp_path, source) == observed(source, LAYERS[layer])


@pytest.mark.parametrize("call", FUNCTIONS)
def test_a_function_depends_on_the_mode_when_torch_shows_it(call: str, tmp_path: Path):
    source = SOURCE.format(layer="nn.Identity()", result=call)
    assert verdict(tmp_path, source) == observed(source, _FLAT)


def test_every_layer_of_the_table_is_tried():
    tried = {text.split("(")[0].removeprefix("nn.") for text in LAYERS}
    public = {name for name in modes.LAYERS if not name.startswith("torch.nn.modules.")}
    assert {name.removeprefix("torch.nn.") for name in public} - UNTRIED <= tried


def test_every_layer_whose_source_asks_for_the_mode_is_in_the_table():
    asking = {
        f"torch.nn.{name}"
        for name, cls in vars(nn).items()
        if isinstance(cls, type) and issubclass(cls, nn.Module) and _asks(cls) and not _copies(cls)
    }
    assert asking <= modes.LAYERS.keys()


def _copies(cls: type) -> bool:
    return bool(set(modes.WRAPPED) & set(inspect.signature(cls.__init__).parameters))


def _asks(cls: type) -> bool:
    own = [base for base in cls.__mro__ if base.__module__.startswith("torch.nn") and base is not nn.Module]
    return any("self.training" in inspect.getsource(base.forward) for base in own if "forward" in vars(base))


def test_every_function_with_a_flag_is_in_the_table():
    flags = {"training", "train", "use_input_stats", "dropout_p", "max_norm"}
    for name, function in inspect.getmembers(F, inspect.isfunction):
        if flags & set(inspect.signature(function).parameters) and not name.startswith("_"):
            assert f"torch.nn.functional.{name}" in modes.FUNCTIONS


def test_every_operator_that_torch_tags_as_random_is_known():
    for name in dir(torch.ops.aten):
        packet = getattr(torch.ops.aten, name)
        overloads = [getattr(packet, o) for o in packet.overloads()] if hasattr(packet, "overloads") else []
        if any(torch.Tag.nondeterministic_seeded in overload.tags for overload in overloads):
            is_public = hasattr(torch, name) or hasattr(torch.Tensor, name)
            switched = f"torch.{name}" in modes.FUNCTIONS or f"torch.nn.functional.{name}" in modes.FUNCTIONS
            is_backend = name.startswith(("_", "miopen_"))
            assert is_backend or not is_public or switched or modes.is_random_operator(name)
