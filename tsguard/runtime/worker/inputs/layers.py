"""What the first layers of a module take, as a hint for its inputs."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from tsguard.runtime.worker.inputs.specs import BATCH, FRAMES, IMAGE, LENGTH, TensorSpec

_SIZE_NAMES = re.compile(r"(image|img|input|in|pretrain_img|crop)_?(size|resolution|shape)|resolution|size")


def likely_input(module: Any) -> TensorSpec | None:
    """The input that the first layer with a known appetite takes."""
    if not isinstance(module, nn.Module):
        return None
    for submodule in module.modules():
        spec = _taken_by(submodule)
        if spec is not None:
            # A lazy layer takes as many as come, and says 0.
            usual = 3 if len(spec.shape) > 2 else IMAGE
            return _with_image_size(module, spec.of(tuple(size or usual for size in spec.shape)))
    return _named_by_attribute(module)


def _named_by_attribute(module: nn.Module) -> TensorSpec | None:
    """For hand-written layers, which keep their sizes as attributes."""
    own = vars(module)
    for names, make in (
        (("in_channels", "n_channels", "channels", "in_planes", "inplanes"), _image_of),
        (("input_size", "in_features", "in_dim", "input_dim", "dim", "d_model", "embed_dim"), _row_of),
    ):
        for name in names:
            size = own.get(name)
            if isinstance(size, int) and not isinstance(size, bool) and size > 0:
                return make(size)
    return None


def _image_of(channels: int) -> TensorSpec:
    return TensorSpec((BATCH, channels, IMAGE, IMAGE))


def _row_of(size: int) -> TensorSpec:
    return TensorSpec((BATCH, size))


def _taken_by(layer: nn.Module) -> TensorSpec | None:
    pattern, lengths = getattr(layer, "pattern", None), getattr(layer, "axes_lengths", None)
    if isinstance(pattern, str) and isinstance(lengths, dict):
        return _taken_by_pattern(pattern, lengths)
    if isinstance(layer, nn.Embedding):
        return TensorSpec((BATCH, LENGTH), "int", layer.num_embeddings)
    if isinstance(layer, nn.EmbeddingBag):
        return TensorSpec((BATCH, LENGTH), "int", layer.num_embeddings)
    if isinstance(layer, (nn.Conv1d, nn.ConvTranspose1d)):
        return TensorSpec((BATCH, layer.in_channels, IMAGE))
    if isinstance(layer, (nn.Conv2d, nn.ConvTranspose2d)):
        return TensorSpec((BATCH, layer.in_channels, IMAGE, IMAGE))
    if isinstance(layer, (nn.Conv3d, nn.ConvTranspose3d)):
        return TensorSpec((BATCH, layer.in_channels, FRAMES, IMAGE // 2, IMAGE // 2))
    if isinstance(layer, nn.RNNBase):
        return TensorSpec((BATCH, LENGTH, layer.input_size))
    if isinstance(layer, nn.RNNCellBase):
        return TensorSpec((BATCH, layer.input_size))
    if isinstance(layer, nn.MultiheadAttention):
        return TensorSpec((BATCH, LENGTH, layer.embed_dim))
    if isinstance(layer, nn.Linear):
        return TensorSpec((BATCH, layer.in_features))
    if isinstance(layer, nn.Bilinear):
        return TensorSpec((BATCH, layer.in1_features))
    return _taken_by_norm(layer)


def _taken_by_pattern(pattern: str, known: dict[str, int]) -> TensorSpec | None:
    """What a layer of einops takes: ``b c (h p1) (w p2) -> ...`` with the lengths that it was given."""
    axes = re.findall(r"\([^)]*\)|\S+", pattern.partition("->")[0])
    if "..." in axes or not axes:
        return None
    usual = {1: (BATCH,), 2: (BATCH, 64), 3: (BATCH, LENGTH, 64), 4: (BATCH, 3, IMAGE, IMAGE)}
    sizes = usual.get(len(axes), (BATCH, 3, FRAMES, IMAGE, IMAGE, IMAGE)[: len(axes)])
    fitted = []
    for axis, size in zip(axes, sizes, strict=False):
        unit = math.prod(known.get(name, 1) for name in axis.strip("()").split())
        fitted.append(known.get(axis, -(-size // unit) * unit))
    return TensorSpec(tuple(fitted))


def _taken_by_norm(layer: nn.Module) -> TensorSpec | None:
    if isinstance(layer, nn.LayerNorm):
        shape = tuple(int(size) for size in layer.normalized_shape)
        return TensorSpec((BATCH, *((LENGTH,) if len(shape) == 1 else ()), *shape))
    if isinstance(layer, (nn.BatchNorm2d, nn.InstanceNorm2d)):
        return TensorSpec((BATCH, layer.num_features, IMAGE // 4, IMAGE // 4))
    if isinstance(layer, (nn.BatchNorm3d, nn.InstanceNorm3d)):
        return TensorSpec((BATCH, layer.num_features, FRAMES, FRAMES, FRAMES))
    if isinstance(layer, (nn.BatchNorm1d, nn.InstanceNorm1d)):
        return TensorSpec((BATCH, layer.num_features))
    if isinstance(layer, nn.GroupNorm):
        return TensorSpec((BATCH, layer.num_channels, IMAGE // 4, IMAGE // 4))
    return None


def _with_image_size(module: nn.Module, spec: TensorSpec) -> TensorSpec:
    if len(spec.shape) < 4 or spec.kind != "float":
        return spec
    for height, width in image_sizes(module):
        return spec.of((*spec.shape[:-2], height, width))
    return spec


def image_sizes(module: Any) -> Iterator[tuple[int, int]]:
    """Image sizes that the module or its submodules say they are made for; none for a function."""
    seen = set()
    for submodule in module.modules() if isinstance(module, nn.Module) else ():
        for name, value in vars(submodule).items():
            if not _SIZE_NAMES.fullmatch(name):
                continue
            pair = _pair(value)
            if pair is not None and pair not in seen:
                seen.add(pair)
                yield pair


def _pair(value: Any) -> tuple[int, int] | None:
    if isinstance(value, (list, tuple)) and len(value) in (2, 3):
        sizes = value[-2:]
        if all(isinstance(size, int) and 4 <= size <= 1024 for size in sizes):
            return sizes[0], sizes[1]
    if isinstance(value, int) and not isinstance(value, bool) and 4 <= value <= 1024:
        return value, value
    return None


def widths(module: Any) -> list[int]:
    """Sizes that occur in the module's parameters and integer attributes, outer ones first."""
    found: dict[int, None] = {}
    if isinstance(module, nn.Module):
        for submodule in module.modules():
            for value in vars(submodule).values():
                if isinstance(value, int) and not isinstance(value, bool) and 1 < value <= 4096:
                    found.setdefault(value)
            for parameter in (*submodule._parameters.values(), *submodule._buffers.values()):
                if parameter is not None:
                    for size in parameter.shape:
                        found.setdefault(int(size))
    return [size for size in found if size > 1][:60]


def lengths(module: Any) -> list[int]:
    """Lengths of sequences that the module may be made for.

    A learned table of positions ``(1, n, width)`` wants ``n`` rows, or one less with a
    token in front; windows and grids of a side, which attributes name, come flattened.
    """
    found: dict[int, None] = {}
    for submodule in module.modules() if isinstance(module, nn.Module) else ():
        for parameter in (*submodule._parameters.values(), *submodule._buffers.values()):
            if (
                parameter is not None
                and not is_lazy(parameter)
                and parameter.dim() == 3
                and parameter.shape[0] == 1
            ):
                found |= dict.fromkeys((int(parameter.shape[1]), int(parameter.shape[1]) - 1))
        for name, value in vars(submodule).items():
            pair = _pair(value) if not name.startswith("_") and name != "training" else None
            if pair is not None and max(pair) <= 32:
                area = pair[0] * pair[1]
                found |= dict.fromkeys((area, area + 1))
    # Both are squares: a flattened grid, and one with a token in front.
    usual = [size + token for size in (LENGTH, IMAGE) for token in (0, 1)]
    return list(dict.fromkeys([*[length for length in found if 1 < length <= 1025][:8], *usual]))


def unusual_dtype(module: Any) -> str:
    """The dtype that all parameters are of, as source, where that is a float other than torch's usual one."""
    held = {p.dtype for p in module.parameters()} if isinstance(module, nn.Module) else set()
    found = held.pop() if len(held) == 1 else torch.get_default_dtype()
    return str(found) if found.is_floating_point and found != torch.get_default_dtype() else ""
