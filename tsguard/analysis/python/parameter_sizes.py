"""The sizes of the parameters and buffers of torch's layers, which their constructors are given.

Source: torch/nn/modules: linear.py, conv.py, sparse.py, batchnorm.py, normalization.py, activation.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from tsguard.analysis.values import Const, ListValue, TupleValue, Value

Sizes = tuple[int | None, ...]


class _Layer(NamedTuple):
    """The arguments that a layer is constructed with, and over how many dimensions it works."""

    arguments: Mapping[str, Value]
    rank: int

    def whole(self, name: str) -> int | None:
        """An argument, where it is a known whole number."""
        return _whole(self.arguments.get(name))

    def several(self, name: str, count: int | None = None) -> Sizes | None:
        """An argument that is a number, of which there are then ``count``, or several of them."""
        value = self.arguments.get(name)
        if isinstance(value, (TupleValue, ListValue)) and not value.open:
            return tuple(map(_whole, value.items))
        if isinstance(value, Const):
            return (_whole(value),) * (count or 1)
        return None if count is None else (None,) * count

    def part(self, name: str) -> int | None:
        """What a group has of so many channels."""
        count, groups = self.whole(name), self.whole("groups")
        return count // groups if count is not None and groups else None


def _whole(value: Value | None) -> int | None:
    return value.value if isinstance(value, Const) and type(value.value) is int else None


def _linear(layer: _Layer) -> dict[str, Sizes | None]:
    ends = layer.whole("out_features")
    return {"weight": (ends, layer.whole("in_features")), "bias": (ends,)}


def _bilinear(layer: _Layer) -> dict[str, Sizes | None]:
    ends = layer.whole("out_features")
    return {"weight": (ends, layer.whole("in1_features"), layer.whole("in2_features")), "bias": (ends,)}


def _convolution(layer: _Layer) -> dict[str, Sizes | None]:
    window, ends = layer.several("kernel_size", layer.rank) or (), layer.whole("out_channels")
    return {"weight": (ends, layer.part("in_channels"), *window), "bias": (ends,)}


def _transposed(layer: _Layer) -> dict[str, Sizes | None]:
    window = layer.several("kernel_size", layer.rank) or ()
    weight = (layer.whole("in_channels"), layer.part("out_channels"), *window)
    return {"weight": weight, "bias": (layer.whole("out_channels"),)}


def _embedding(layer: _Layer) -> dict[str, Sizes | None]:
    return {"weight": (layer.whole("num_embeddings"), layer.whole("embedding_dim"))}


def _channels(name: str) -> Callable[[_Layer], dict[str, Sizes | None]]:
    def sizes(layer: _Layer) -> dict[str, Sizes | None]:
        each = (layer.whole(name),)
        kept = dict.fromkeys(("running_mean", "running_var"), each)
        return {"weight": each, "bias": each, **kept, "num_batches_tracked": ()}

    return sizes


def _shape(layer: _Layer) -> dict[str, Sizes | None]:
    return dict.fromkeys(("weight", "bias"), layer.several("normalized_shape"))


_LAYERS: dict[str, Callable[[_Layer], dict[str, Sizes | None]]] = {
    "Linear": _linear,
    "Bilinear": _bilinear,
    "Conv": _convolution,
    "ConvTranspose": _transposed,
    "Embedding": _embedding,
    "EmbeddingBag": _embedding,
    "BatchNorm": _channels("num_features"),
    "SyncBatchNorm": _channels("num_features"),
    "InstanceNorm": _channels("num_features"),
    "GroupNorm": _channels("num_channels"),
    "PReLU": _channels("num_parameters"),
    "LayerNorm": _shape,
    "RMSNorm": _shape,
}
_NAME = re.compile(r"torch\.nn\.(?:modules\.\w+\.)?([A-Za-z]+?)(?:([123])d)?")


def of_layer(name: str, arguments: Mapping[str, Value]) -> dict[str, Sizes | None]:
    """The sizes by the names of the parameters and buffers; none of a layer that is not described here."""
    found = _NAME.fullmatch(name)
    describe = _LAYERS.get(found[1]) if found is not None else None
    return {} if found is None or describe is None else describe(_Layer(arguments, int(found[2] or 0)))
