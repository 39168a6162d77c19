"""What stays in Python where annotations are strings: torch looks none of its names up."""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor, nn

X = lambda: (torch.rand(2, 3),)


@torch.jit.ignore
def shifted(x: Tensor, by: float) -> Tensor:
    return x + by


@torch.jit.unused
def halved(x: Tensor) -> Tensor:
    return x / 2


@lru_cache
def width(x) -> Tensor:
    return x.new_zeros(1)


class Annotated(nn.Module):
    inputs = X

    @torch.jit.ignore
    def doubled(self, x: Tensor) -> Tensor:
        return x * 2

    def forward(self, x: Tensor) -> Tensor:
        return self.doubled(x)


class OnlyResult(nn.Module):
    inputs = X

    @torch.jit.ignore
    def show(self, x) -> None:
        print(x.shape)

    def forward(self, x: Tensor) -> Tensor:
        self.show(x)
        return x


class Unused(nn.Module):
    inputs = X

    @torch.jit.unused
    def doubled(self, x: Tensor) -> Tensor:
        return x * 2

    def forward(self, x: Tensor) -> Tensor:
        if x.dim() > 5:
            return self.doubled(x)
        return x


class Function(nn.Module):
    inputs = X

    def forward(self, x: Tensor) -> Tensor:
        return shifted(x, 2.0)


class UnusedFunction(nn.Module):
    inputs = X

    def forward(self, x: Tensor) -> Tensor:
        if x.dim() > 5:
            return halved(x)
        return x


class Kept(nn.Module):
    inputs = X

    def forward(self, x: Tensor) -> Tensor:
        return x + width(x)


class Plain(nn.Module):
    inputs = X

    @torch.jit.ignore
    def doubled(self, x):
        return x * 2

    def forward(self, x: Tensor) -> Tensor:
        return self.doubled(x)


class Comment(nn.Module):
    inputs = X

    @torch.jit.ignore
    def times(self, x, n):
        # type: (Tensor, int) -> Tensor
        return x * n

    def forward(self, x: Tensor) -> Tensor:
        return self.times(x, 2)


class NotCompiled(nn.Module):
    inputs = X

    @torch.jit.ignore
    def doubled(self, x: Tensor) -> Tensor:
        return x * 2

    def forward(self, x: Tensor) -> Tensor:
        if not torch.jit.is_scripting():
            return self.doubled(x) / 2
        return x


class NotCalled(nn.Module):
    inputs = X

    @torch.jit.ignore
    def doubled(self, x: Tensor) -> Tensor:
        return x * 2

    def forward(self, x: Tensor) -> Tensor:
        return x
