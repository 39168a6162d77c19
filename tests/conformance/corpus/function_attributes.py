"""Functions of torch that an attribute holds: some compile only where they are called by name."""

import torch
import torch.nn.functional as F
from torch import nn

X = lambda: (torch.rand(1, 3, 4, 4),)


class Overloaded(nn.Module):
    inputs = X

    def __init__(self, function=F.interpolate):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x, scale_factor=2.0)


class Overloads(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.norm = torch.norm

    def forward(self, x):
        return self.norm(x)


class Dispatched(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.pool = F.max_pool2d

    def forward(self, x):
        return self.pool(x, [2, 2])


class WithAnyNumberOfArguments(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.einsum = torch.einsum

    def forward(self, x):
        return self.einsum("abcd->ab", x)


class Untyped(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.split = torch.split

    def forward(self, x):
        return self.split(x, 1)


class Unused(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.interpolate = F.interpolate
        self.pool = F.adaptive_max_pool2d
        self.meshgrid = torch.meshgrid

    def forward(self, x):
        return x


class OfPython(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.act = F.relu
        self.distance = torch.cdist

    def forward(self, x):
        return self.distance(self.act(x), x)


class Operators(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.act = F.gelu
        self.add = torch.add

    def forward(self, x):
        return self.add(self.act(x), x)


@torch.jit._overload
def scale(x: torch.Tensor, factor: int) -> torch.Tensor: ...


@torch.jit._overload
def scale(x: torch.Tensor, factor: float) -> torch.Tensor: ...


def scale(x, factor):
    return x * factor


class OverloadedHere(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.scale = scale

    def forward(self, x):
        return self.scale(x, 2)


class OverloadedByName(nn.Module):
    inputs = X

    def forward(self, x):
        return scale(x, 2)
