"""Parameters that default to None, and operands of and and or."""

import torch
from torch import nn, Tensor
import torch.nn.functional as F
from typing import *

X = lambda: (torch.rand(3, 3),)


class M2(nn.Module):
    inputs = X

    def forward(self, x):
        return x.size(0) ** -1


class M3(nn.Module):
    inputs = X

    def forward(self, x):
        return x // 2, x % 2, 2**x, 1 / x, 3 - x


class R2(nn.Module):
    inputs = X

    def forward(self, x):
        return max(1, 2.5), min(2, 1.0)


class R5(nn.Module):
    inputs = X

    def forward(self, x):
        return 1 == 1.0, "a" < "b", [1, 2] == [1, 2], (1, 2) == (1, 2)


class N2(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.a = nn.MultiheadAttention(3, 1)

    def forward(self, x, mask=None):
        return self.a(x, x, x, attn_mask=mask)[0]


def inner(x, mask):
    if mask is not None:
        x = x * mask
    return x


class N4(nn.Module):
    inputs = X

    def forward(self, x, mask=None):
        return inner(x, mask)


class N5(nn.Module):
    inputs = X

    def forward(self, x, mask=None):
        return inner(x, mask=mask) + inner(x, x)


class N6(nn.Module):
    inputs = X

    def forward(self, x, bias=None):
        return F.linear(x, x, bias)


class N7(nn.Module):
    inputs = X

    def forward(self, x, mask=None):
        if mask is None:
            return x
        return x * mask


class N8(nn.Module):
    inputs = X

    def forward(self, x, mask=None):
        out = [x, mask]
        return out[0]


class N10(nn.Module):
    inputs = X

    def forward(self, x, a=None, flag: bool = True):
        if flag and a is not None:
            return x + a
        return x


class N11(nn.Module):
    inputs = X

    def forward(self, x, hx=None):
        hx = hx if hx is not None else torch.zeros(3)
        return x + hx


class N12(nn.Module):
    inputs = X

    def forward(self, x, hx=None):
        hx = torch.zeros(3) if hx is None else hx
        return x + hx


class N13(nn.Module):
    inputs = X

    def forward(self, x, hx=None):
        if not hx:
            hx = torch.zeros(3)
        return x + hx


class N14(nn.Module):
    inputs = X

    def forward(self, x, hx=None):
        hx = hx or torch.zeros(3)
        return x + hx


class N15(nn.Module):
    inputs = X

    def forward(self, x, w: Tensor = None):
        return F.cross_entropy(x, torch.zeros(3, dtype=torch.long), weight=w)


class A1(nn.Module):
    inputs = lambda: (torch.rand(3), torch.rand(3))

    def forward(self, a, b):
        c = a.sum() > 0 or b.sum() > 0
        if c:
            return a
        return b


class A2(nn.Module):
    inputs = lambda: (torch.rand(3), torch.rand(3))

    def forward(self, a, b):
        return not (a.sum() > 0)


class A3(nn.Module):
    inputs = lambda: (torch.rand(3), torch.rand(3))

    def forward(self, a, b):
        n = a.size(0) or 1
        return a * n


class T1(nn.Module):
    inputs = X

    def forward(self, x):
        return torch.tensor(x.sum())


class T2(nn.Module):
    inputs = X

    def forward(self, x):
        return torch.as_tensor(x)


class T3(nn.Module):
    inputs = X

    def forward(self, x):
        return torch.tensor([x.sum(), x.mean()])
