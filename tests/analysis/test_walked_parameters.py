"""What ``parameters()`` of a layer gives is what torch gives, or is left open."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from tsguard.analysis.python import Program, PythonInterpreter
from tsguard.analysis.subjects import build
from tsguard.analysis.values import ListValue, ModuleValue, constant
from tsguard.project import Project
from tsguard.project.targets import find_target

NET = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        part = {layer}
        self.all = [name for name, _ in part.named_parameters()]
        self.own = [name for name, _ in part.named_parameters(recurse=False)]
        self.also_own = [name for name, _ in part.named_parameters("", False)]
        self.has_any = any(p.requires_grad for p in part.parameters())
"""
TOLD = [
    "nn.Identity()",
    "nn.Linear(3, 4)",
    "nn.Linear(3, 4, bias=False)",
    "nn.Bilinear(2, 3, 4)",
    "nn.Conv2d(2, 3, 1, bias=False)",
    "nn.ConvTranspose1d(2, 3, 1)",
    "nn.BatchNorm2d(3, affine=False)",
    "nn.BatchNorm1d(3)",
    "nn.InstanceNorm2d(3, affine=True)",
    "nn.GroupNorm(1, 3)",
    "nn.LayerNorm(3, bias=False)",
    "nn.Embedding(3, 4)",
    "nn.LSTM(2, 3, num_layers=2, bidirectional=True)",
    "nn.GRU(2, 3, bias=False)",
    "nn.LSTMCell(2, 3)",
    "nn.PReLU()",
    "nn.Dropout()",
    "nn.CrossEntropyLoss(weight=torch.ones(3))",
    "nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.BatchNorm1d(3))",
    "nn.ModuleList([nn.Linear(2, 3), nn.Sequential()])",
    "nn.ModuleDict({'a': nn.Linear(2, 3)})",
]
OPEN = [
    "nn.MultiheadAttention(4, 2, add_bias_kv=True)",
    "nn.TransformerEncoderLayer(4, 2)",
    "nn.utils.weight_norm(nn.Linear(2, 3))",
    "nn.utils.parametrizations.weight_norm(nn.Linear(2, 3))",
    "nn.utils.spectral_norm(nn.Linear(2, 3))",
]


def made(path: Path, layer: str) -> ModuleValue:
    path.write_text(NET.format(layer=layer), "utf-8")
    program = Program(Project(()))
    module = build(PythonInterpreter(program), find_target(program.project.module(path), "Net"))
    assert isinstance(module, ModuleValue)
    return module


def names(module: ModuleValue, attribute: str) -> list[object]:
    value = module.attributes[attribute]
    assert isinstance(value, ListValue)
    assert not value.open
    return [constant(item) for item in value.items]


@pytest.mark.parametrize("layer", TOLD)
def test_the_parameters_of_a_layer_are_those_that_torch_gives_it(tmp_path: Path, layer: str) -> None:
    part = eval(layer, {"nn": nn, "torch": torch})
    found = made(tmp_path / "model.py", layer)
    assert names(found, "all") == [name for name, _ in part.named_parameters()]
    assert names(found, "own") == [name for name, _ in part.named_parameters(recurse=False)]
    assert names(found, "also_own") == names(found, "own")
    assert names(found, "all") or constant(found.attributes["has_any"]) is False


@pytest.mark.parametrize("layer", OPEN)
def test_what_changes_or_may_change_the_parameters_leaves_them_open(tmp_path: Path, layer: str) -> None:
    value = made(tmp_path / "model.py", layer).attributes["all"]
    assert isinstance(value, ListValue)
    assert value.open
