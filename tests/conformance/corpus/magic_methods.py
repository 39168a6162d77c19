"""len, str and the like of modules and of objects: the class's own method stands behind them."""

import torch
from torch import Tensor, nn

X = lambda: (torch.rand(2, 3),)
class A(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2,2)
    def forward(self, x: Tensor):
        n = len(self.fc)
        return x * n
class B(A):
    inputs = X

    def forward(self, x: Tensor):
        for i in range(len(self.fc)):
            x = x + i
        return x
class L(nn.Module):
    inputs = X

    def __len__(self) -> int:
        return 3
    def forward(self, x: Tensor):
        return x
class C(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.fc = L()
    def forward(self, x: Tensor):
        return x * len(self.fc)
class D(A):
    inputs = X

    def forward(self, x: Tensor):
        return x * round(self.fc)
class E(A):
    inputs = X

    def forward(self, x: Tensor):
        return x * abs(self.fc)
class F(A):
    inputs = X

    def forward(self, x: Tensor):
        return x * int(self.fc)
class G(A):
    inputs = X

    def forward(self, x: Tensor):
        if bool(self.fc):
            return x
        return x * 2
class H(A):
    inputs = X

    def forward(self, x: Tensor):
        return x * len(self)
class I(L):
    inputs = X

    def forward(self, x: Tensor):
        return x * len(self)
class J(A):
    inputs = X

    def forward(self, x: Tensor):
        return str(self.fc)
class K(A):
    inputs = X

    def forward(self, x: Tensor):
        m = self.fc
        return len(m) * x
class M(A):
    inputs = X

    def forward(self, x: Tensor):
        return x
    @torch.jit.export
    def __len__(self) -> int:
        return 3
class N(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.fc = M()
    def forward(self, x: Tensor):
        return x * len(self.fc)
class P:
    def __init__(self, k: int):
        self.k = k
class O(nn.Module):
    inputs = X

    def forward(self, x: Tensor):
        return x * len(P(3))
class Q(nn.Module):
    inputs = X

    def forward(self, x: Tensor):
        return x * int(P(3))
class R(nn.Module):
    inputs = X

    def forward(self, x: Tensor):
        return str(P(3))
class S(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.s = nn.Sequential(nn.ReLU())
        self.l = nn.ModuleList([nn.ReLU()])
        self.d = nn.ModuleDict({"a": nn.ReLU()})
    def forward(self, x: Tensor):
        return x * len(self.s)+ len(self.l) + len(self.d)
class ContainerA(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.s = nn.Sequential(nn.ReLU())
        self.l = nn.ModuleList([nn.ReLU()])
        self.d = nn.ModuleDict({"a": nn.ReLU()})
        self.p = nn.ParameterList([nn.Parameter(torch.ones(1))])
        self.pd = nn.ParameterDict({"a":nn.Parameter(torch.ones(1))})
    def forward(self, x: Tensor):
        m = self.s
        return x * len(m)
class ContainerB(ContainerA):
    inputs = X

    def forward(self, x: Tensor):
        return x * len(self.p)
class ContainerC(ContainerA):
    inputs = X

    def forward(self, x: Tensor):
        return x * len(self.pd)
class ContainerD(ContainerA):
    inputs = X

    def forward(self, x: Tensor):
        return str(self.s)
class ContainerE(ContainerA):
    inputs = X

    def forward(self, x: Tensor):
        return bool(self.s)
class ML(nn.ModuleList):
    inputs = X

    def forward(self, x: Tensor):
        return x * len(self)
class ContainerF(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.s = ML([nn.ReLU()])
    def forward(self, x: Tensor):
        return x * len(self.s)
class MS(nn.Sequential):
    inputs = X

    def forward(self, x: Tensor):
        return x * len(self)
class ContainerG(ContainerA):
    inputs = X

    def forward(self, x: Tensor):
        return round(self.l)
class ContainerH(ContainerA):
    inputs = X

    def forward(self, x: Tensor):
        return x * len(self.l[0])
class ContainerI(ContainerA):
    inputs = X

    def forward(self, x: Tensor):
        return x * len(self.l[0:1])
class ContainerJ(ContainerA):
    inputs = X

    def forward(self, x: Tensor):
        if self.l:
            return x
        return x * 2
class ContainerK(ContainerA):
    inputs = X

    def forward(self, x: Tensor):
        return x * int(len(self.d))


class Levels(nn.Module):
    """A list of modules whose number arguments decide."""

    inputs = X

    def __init__(self, sizes: tuple = (3, 3)):
        super().__init__()
        self.parts = nn.ModuleList()
        for size in sizes:
            self.parts.append(nn.Linear(size, size))

    def forward(self, x: Tensor):
        for part in self.parts:
            x = part(x)
        return x * len(self.parts)
