"""Members of enumerations."""

import torch, enum
from torch import nn


class K(enum.Enum):
    A = 1
    B = 2


X = lambda: (torch.rand(3),)


class M1(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.k = K.A

    def forward(self, x):
        return x if self.k is K.A else x + 1


class M2(M1):
    def forward(self, x):
        if self.k is K.A:
            return x
        return x + 1


class M3(M1):
    def forward(self, x):
        k = K.A
        if k is K.A:
            return x
        return x + 1


class M4(M1):
    def forward(self, x):
        if self.k is not K.A:
            return x
        return x + 1


class M5(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.k = K.B

    def forward(self, x):
        if self.k is K.B:
            return x
        return x + 1


class M6(nn.Module):
    inputs = X

    def forward(self, x):
        if K.B is K.B:
            return x
        return x + 1
