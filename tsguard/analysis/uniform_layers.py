"""Layers of torch whose parameters begin as ones and zeros: each that is made is like any other."""

from __future__ import annotations

_UNIFORM = ("Norm", "Norm1d", "Norm2d", "Norm3d", "PReLU")


def begins_uniform(layer: str) -> bool:
    """Whether the parameters of a layer begin as ones and zeros, and not as random numbers."""
    return layer.endswith(_UNIFORM)
