"""The sizes of what torch's layers hold are those that torch gives them."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from tsguard.analysis.python import parameter_sizes
from tsguard.analysis.python.constants import literal
from tsguard.analysis.values import Unknown

LAYERS: list[tuple[type[nn.Module], dict[str, object]]] = [
    (nn.Linear, {"in_features": 3, "out_features": 5}),
    (nn.Bilinear, {"in1_features": 3, "in2_features": 4, "out_features": 5}),
    (nn.Conv1d, {"in_channels": 4, "out_channels": 6, "kernel_size": 3, "groups": 2}),
    (nn.Conv2d, {"in_channels": 4, "out_channels": 6, "kernel_size": (3, 5), "groups": 1}),
    (nn.Conv3d, {"in_channels": 4, "out_channels": 6, "kernel_size": 3, "groups": 1}),
    (nn.ConvTranspose2d, {"in_channels": 4, "out_channels": 6, "kernel_size": 3, "groups": 2}),
    (nn.Embedding, {"num_embeddings": 7, "embedding_dim": 3}),
    (nn.EmbeddingBag, {"num_embeddings": 7, "embedding_dim": 3}),
    (nn.BatchNorm1d, {"num_features": 4}),
    (nn.SyncBatchNorm, {"num_features": 4}),
    (nn.InstanceNorm2d, {"num_features": 4, "affine": True, "track_running_stats": True}),
    (nn.GroupNorm, {"num_groups": 2, "num_channels": 6}),
    (nn.PReLU, {"num_parameters": 4}),
    (nn.LayerNorm, {"normalized_shape": 3}),
    (nn.LayerNorm, {"normalized_shape": (3, 4)}),
]


@pytest.mark.parametrize(("layer", "arguments"), LAYERS, ids=lambda value: getattr(value, "__name__", ""))
def test_sizes_are_those_of_the_layer(layer: type[nn.Module], arguments: dict[str, object]) -> None:
    held: dict[str, torch.Tensor] = layer(**arguments).state_dict()
    values = {name: literal(value) for name, value in arguments.items()}
    told = parameter_sizes.of_layer(f"torch.nn.{layer.__name__}", values)
    assert {name: told[name] for name in held} == {name: tuple(each.shape) for name, each in held.items()}


def test_what_is_not_known_has_no_number() -> None:
    told = parameter_sizes.of_layer(
        "torch.nn.Conv2d", {"in_channels": Unknown(), "kernel_size": Unknown(), "out_channels": literal(6)}
    )
    assert told == {"weight": (6, None, None, None), "bias": (6,)}


def test_layers_of_other_kinds_are_not_described() -> None:
    assert parameter_sizes.of_layer("torch.nn.LazyLinear", {"out_features": literal(3)}) == {}
