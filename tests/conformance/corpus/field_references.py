"""Named tuples whose fields are annotated with strings."""

import torch
from torch import nn, Tensor
from typing import *
from fields import Simple, Opt, Dot, Pipe, Low


class Q(NamedTuple):
    a: "Tensor"


class QO(NamedTuple):
    a: "Optional[Tensor]"


class A1(nn.Module):
    def forward(self, x) -> Simple:
        return Simple(x, 1)


class A2(nn.Module):
    def forward(self, x):
        return Simple(x, 1)


class A3(nn.Module):
    def forward(self, x):
        return Opt(x, None)


class A4(nn.Module):
    def forward(self, x, o: Opt):
        return x


class A5(nn.Module):
    def forward(self, x):
        return Dot(x)


class A6(nn.Module):
    def forward(self, x):
        return Pipe(x)


class A7(nn.Module):
    def forward(self, x):
        return Low([x])


class B1(nn.Module):
    def forward(self, x) -> Q:
        return Q(x)


class B2(nn.Module):
    def forward(self, x):
        return Q(x)


class B3(nn.Module):
    def forward(self, x):
        return QO(x)


class B4(nn.Module):
    def forward(self, x) -> "Q":
        return Q(x)


class B5(nn.Module):
    def forward(self, x) -> "QO":
        return QO(x)


class B6(nn.Module):
    def forward(self, x):
        y: QO = QO(x)
        return y


class B7(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = Q(torch.rand(1))
        self.o = QO(None)

    def forward(self, x):
        return x


class B8(B7):
    def forward(self, x):
        return self.q.a


class B9(nn.Module):
    def forward(self, x, q: Optional[Q] = None):
        return x
