"""Quoted names that only type checkers see; aliases with a variable; enumerations made by a call."""

from enum import Enum, IntEnum
from typing import TYPE_CHECKING, List, Sequence, TypeVar, Union

import torch
from torch import nn

if TYPE_CHECKING:
    from somewhere.parts import Part
    from torch import Tensor

T = TypeVar("T")
OneOrMany = Union[T, Sequence[T]]
Many = List[T]
Kind = Enum("Kind", "Batch Weight Spectral")
Letter = Enum("Letter", ["a", "b"])
Number = IntEnum("Number", {"x": 3, "y": 4})
X = lambda: (torch.rand(2, 3),)


class A(nn.Module):
    inputs = X

    def forward(self, g: "Tensor") -> "Tensor":
        return g


class B(nn.Module):
    inputs = X

    def forward(self, g: torch.Tensor) -> "Part":
        return g


class C(nn.Module):
    inputs = X

    def forward(self, g: OneOrMany[torch.Tensor]):
        return torch.ones(3)


class D(nn.Module):
    inputs = lambda: ([torch.rand(2, 3)],)

    def forward(self, g: Many[torch.Tensor]):
        return g[0]


class E(nn.Module):
    inputs = lambda: (torch.rand(1, 3, 5, 5),)

    def __init__(self):
        super().__init__()
        kind = Kind.Batch
        self.c = nn.Conv2d(3, 3, 3)
        if kind == Kind.Weight:
            self.c = nn.utils.weight_norm(self.c)

    def forward(self, x: torch.Tensor):
        return self.c(x)


class F(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        if Letter.a in (Letter.b,):
            self.d = 3

    def forward(self, x: torch.Tensor):
        return x + self.d


class G(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.name = Letter.a.name
        self.sum = Kind(2).value + Number["y"].value

    def forward(self, x: torch.Tensor):
        if self.name == "a":
            return x
        return x + self.sum
