"""Arguments that calls leave out, and numbers that layers are given: what torch makes of them."""

from typing import List, Optional, Tuple

import torch
from torch import Tensor, nn

X = lambda: (torch.rand(3, 4),)


def helped(x, mask=None):
    return x * 2


class Readout(nn.Module):
    inputs = X

    def forward(self, x, lengths: Tensor = None):
        return x + 1


class Box:
    def __init__(self, value: Tensor):
        self.value = value

    def __getitem__(self, index: int) -> Tensor:
        return self.value[index]

    def __add__(self, other: Tensor) -> Tensor:
        return self.value + other


class LeavesOutMask(nn.Module):
    inputs = X

    def forward(self, x: Tensor):
        return helped(x)


class GivesMask(nn.Module):
    inputs = X

    def forward(self, x: Tensor):
        return helped(x, mask=x)


class LeavesOutInMethod(nn.Module):
    inputs = X

    def encode(self, x, lengths=None):
        return x if lengths is None else x * lengths

    def forward(self, x: Tensor):
        return self.encode(x)


class LeavesOutInSequential(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.ReLU(), Readout())

    def forward(self, x: Tensor):
        return self.layers(x)


class LeavesOutWhereNothingIsCompiled(nn.Module):
    inputs = X

    def forward(self, x: Tensor):
        if torch.jit.is_scripting():
            return x * 2
        return helped(x)


class IgnoredDefault(nn.Module):
    inputs = X

    @torch.jit.ignore
    def log(self, x: Tensor, every: int = 10) -> Tensor:
        return x

    def forward(self, x: Tensor):
        return self.log(x)


class IgnoredGiven(IgnoredDefault):
    def forward(self, x: Tensor):
        return self.log(x, 5)


class SubscriptOfObject(nn.Module):
    inputs = X

    def forward(self, x: Tensor):
        return Box(x)["first"]


class SumOfObject(nn.Module):
    inputs = X

    def forward(self, x: Tensor):
        return Box(x) + x + Box(x)[0]


class PositionalOnlyDefault(nn.Module):
    inputs = X

    def forward(self, x: Tensor, k: int = 1, /):
        return x


class DefaultOnAnotherLine(nn.Module):
    inputs = X

    def forward(
        self,
        x: Tensor,
        k=1,
    ):
        return x


class BareTuple(nn.Module):
    inputs = X

    def forward(self, x: Tensor):
        if isinstance(x, Tuple):
            return x[0]
        return x


class WholeNumberDropout(nn.Module):
    inputs = X

    def __init__(self, p=0):
        super().__init__()
        self.drop = nn.Dropout(p)

    def forward(self, x: Tensor):
        return self.drop(x)


class WholeNumberMomentum(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4, momentum=1)

    def forward(self, x: Tensor):
        return x


class WholeNumberThreshold(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.act = nn.Softplus(beta=2)

    def forward(self, x: Tensor):
        return self.act(x)


class AttentionWithoutBias(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(4, 2, bias=False)

    def forward(self, x: Tensor):
        return x


class MakesAnother:
    def __new__(cls, size: int, bias: bool = True):
        return nn.Linear(size, size, bias=bias)


class MadeByNew(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.layer = MakesAnother(4)

    def forward(self, x: Tensor):
        return self.layer(x)


class MakesItself(nn.Module):
    inputs = X

    def __new__(cls, *args, **kwargs):
        return super().__new__(cls)

    def forward(self, x: Tensor):
        return x
