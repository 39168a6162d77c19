"""What a constructor leaves in the attributes of a module."""

import torch
from torch import nn

X = lambda: (torch.rand(2, 3),)


class _Bad:
    def __init__(self):
        self.a = 1

    def f(self, *args):
        return lambda: 1


class _Good:
    def __init__(self):
        self.a: int = 1

    def f(self, x: int) -> int:
        return x + self.a


class A1(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.o = _Bad()

    def forward(self, x):
        return x


class A2(A1):
    def forward(self, x):
        return x + self.o.a


class A3(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.o = _Good()

    def forward(self, x):
        return x + self.o.f(1)


class S1(nn.Module):
    inputs = X

    def __init__(self, s=torch.Size()):
        super().__init__()
        self.s = s
        self.t = torch.Size([2, 3])

    def forward(self, x):
        return x


class S2(S1):
    def forward(self, x):
        return x.expand(self.t)


class S3(S1):
    def forward(self, x):
        return torch.zeros(self.t) + x


class S4(S1):
    def forward(self, x):
        return torch.zeros(self.s).sum() + x


class S5(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.register_buffer("b", torch.zeros(2, 3))
        self.t = self.b.shape

    def forward(self, x):
        return x.view(self.t)


import torch
from torch import nn

X = lambda: (torch.rand(2, 3),)


class BS5(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.register_buffer("b", torch.zeros(2, 3))
        self.t = self.b.shape

    def forward(self, x):
        return x.view(self.t)


class BS6(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.n = torch.zeros(2, 3).size(0)
        self.d = torch.zeros(2, 3).dim()
        self.dt = torch.zeros(2).dtype
        self.dev = torch.zeros(1).device
        self.ss = list(torch.zeros(2, 3).shape)
        self.num = torch.zeros(2).numel()
        self.it = torch.zeros(1).item()
        self.l = torch.zeros(2).tolist()

    def forward(self, x):
        return (
            x * self.n * self.d * self.num * self.it,
            x.to(self.dt).to(self.dev),
            x.view(self.ss),
            len(self.l),
        )


class BS7(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.w = nn.Linear(3, 4)
        self.o = self.w.weight.shape[0]
        self.i = self.w.in_features
        self.s = self.w.weight.size()

    def forward(self, x):
        return x * self.o * self.i, self.w(x).view(-1, self.o), torch.zeros(self.s)


import torch, numpy as np
from torch import nn

X = lambda: (torch.rand(2, 3),)


class CN1(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.d = np.array([1, 2])

    def forward(self, x):
        return x + self.d


class LowerIndices(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.lower = np.tril_indices(3, k=-1)

    def forward(self, x):
        return x[self.lower[0]]


class CountedValues(LowerIndices):
    def __init__(self):
        super().__init__()
        self.values, counts = np.unique(np.array([1, 2, 2]), return_counts=True)
        self.most = int(counts[0])

    def forward(self, x):
        return x + self.values[self.most]


class UnusedIndices(LowerIndices):
    def forward(self, x):
        return x


class CN2(nn.Module):
    inputs = X

    def __init__(self, n: int = 3):
        super().__init__()
        self.d, self.m = self._set(n)

    def _set(self, n):
        ds = np.unique(np.linspace(0, 1, n)).astype(np.int32)
        return ds, n

    def forward(self, x):
        return x + self.d[0]


class CN3(nn.Module):
    inputs = X

    def __init__(self, n: int = 3):
        super().__init__()
        self.s = np.prod([2, 3])
        self.p = int(np.prod([2, 3]))
        self.q = np.sqrt(4.0)
        self.f = np.float32(2)

    def forward(self, x):
        return x * self.p


class CN4(CN3):
    def forward(self, x):
        return x * self.s


class CN5(CN3):
    def forward(self, x):
        return x * self.q
