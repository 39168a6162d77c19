"""What stays in Python and has annotations in quotes."""

from typing import List, Optional

import torch
from torch import Tensor, nn

X = lambda: (torch.rand(2, 3),)


class Quoted(nn.Module):
    inputs = X

    @torch.jit.ignore
    def doubled(self, x: "Tensor") -> Tensor:
        return x * 2

    def forward(self, x: Tensor) -> Tensor:
        return self.doubled(x)


class QuotedItem(nn.Module):
    inputs = X

    @torch.jit.ignore
    def joined(self, xs: List["Tensor"]) -> Tensor:
        return torch.cat(xs)

    def forward(self, x: Tensor) -> Tensor:
        return self.joined([x])


class QuotedOptional(nn.Module):
    inputs = X

    @torch.jit.ignore
    def joined(self, x: Tensor, y: Optional["Tensor"]) -> Tensor:
        return x

    def forward(self, x: Tensor) -> Tensor:
        return self.joined(x, None)


class QuotedSelf(nn.Module):
    inputs = X

    @torch.jit.ignore
    def doubled(self: "QuotedSelf", x: Tensor) -> Tensor:
        return x * 2

    def forward(self, x: Tensor) -> Tensor:
        return self.doubled(x)


class Evaluated(nn.Module):
    inputs = X

    @torch.jit.ignore
    def doubled(self, x: Tensor) -> Tensor:
        return x * 2

    def forward(self, x: Tensor) -> Tensor:
        return self.doubled(x)
