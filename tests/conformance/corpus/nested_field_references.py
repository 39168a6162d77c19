"""Such named tuples inside of other annotations."""

import torch
from torch import nn, Tensor
from typing import *
from fields import Simple, Opt, Dot, Pipe, Low


class C1(nn.Module):
    def forward(self, x, o: Optional[Simple] = None):
        return x


class C2(nn.Module):
    def forward(self, x, o: "Optional[Simple]" = None):
        return x


class C3(nn.Module):
    def forward(self, x, o: List[Opt]):
        return x


class C4(nn.Module):
    def forward(self, x, o: "List[Opt]"):
        return x


class C5(nn.Module):
    def forward(self, x):
        o: List[Opt] = []
        return o


class C6(nn.Module):
    def forward(self, x) -> Tuple[Tensor, Opt]:
        return x, Opt(x, x)


class C7(nn.Module):
    def forward(self, x):
        return [Opt(x, x)]
