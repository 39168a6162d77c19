"""Named tuples that mention themselves."""

import torch
from torch import nn, Tensor
from typing import Optional, NamedTuple, List, Union, Dict


class PI(NamedTuple):
    name: str
    data: Optional[List["PI"]]


class M1(nn.Module):
    def forward(self, x, p: PI):
        return x


class M2(nn.Module):
    def forward(self, x, p: Optional[List[PI]] = None):
        return x


class M3(nn.Module):
    def forward(self, x):
        return PI("a", None)
