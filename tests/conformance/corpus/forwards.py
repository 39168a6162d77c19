"""Which method is forward, and what its parameters are."""

import torch
from torch import nn, Tensor
from typing import *


class A(nn.Module):
    def __init__(self):
        super().__init__()
        self.forward = self.other

    def forward(self, x):
        raise NotImplementedError

    def other(self, x):
        return x + 1


class A2(nn.Module):
    def __init__(self, fast: bool = False):
        super().__init__()
        if fast:
            self.forward = self.fast
        else:
            self.forward = self.slow

    def fast(self, x):
        return x + 1

    def slow(self, x, *args):
        return x


def g(x, m: Optional[Tensor] = None):
    return x if m is None else x + m


class B(nn.Module):
    def forward(self, x, mask=None):
        return g(x, mask)


class C(nn.Module):
    def forward(self, x):
        return sum(x)


class C2(nn.Module):
    def forward(self, x: List[Tensor]):
        return sum(x)


class D(nn.Module):
    def forward(self, x):
        return torch.tensor(x)


class E(nn.Module):
    def forward(self, a, b):
        return a.sum() > 0 and b.sum() > 0


class F_(nn.Module):
    @torch.jit.ignore
    def size(self, x):
        return x.size(0)

    def forward(self, x):
        return x + self.size(x)


class G(nn.Module):
    def forward(self, x: List[Tensor]):
        return max(x, key=len)


class H(nn.Module):
    def forward(self, x: list):
        return x[0]


class H2(nn.Module):
    def forward(self, x: List):
        return x[0]


class I(nn.Module):
    def forward(self, x) -> List[int]:
        return list()


class J(nn.Module):
    def forward(self, x):
        return x.unique_consecutive()


class K(nn.Module):
    def forward(self, x):
        v, i = torch.unique_consecutive(x, return_inverse=True)
        return v


class L(nn.Module):
    def forward(self, x):
        v, i = torch.unique(x, return_inverse=True)
        return v


class M(nn.Module):
    def forward(self, x, sizes: Tuple[int, ...]):
        return x.view(sizes)


class N(nn.Module):
    def forward(self, x, ns: "Optional[Tensor]" = None, **kw):
        return x


class A3(nn.Module):
    def __init__(self, export: bool = True):
        super().__init__()
        self.inner = A2()
        if export:
            self.forward = self.forward_export
        else:
            self.forward = self.forward_train

    def forward_export(self, x):
        return self.other(x)

    def forward_train(self, x, **kw):
        return x

    def other(self, x):
        return x + "a"


class A4(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = A()

    def forward(self, x):
        return self.inner(x) + self.inner.forward(x)
