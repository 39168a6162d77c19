"""Containers, attributes, properties, hooks and inheritance of modules."""

import torch, math, enum, functools
from torch import nn, Tensor
import torch.nn.functional as F
from typing import *
from collections import OrderedDict, namedtuple
from torch.nn.utils import weight_norm, spectral_norm
from torch.nn.utils.parametrizations import weight_norm as wn2

X = lambda: (torch.rand(3, 3),)


class S1(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.flag = True

    def forward(self, x):
        if self.flag is True:
            return x
        return x + 1


class S2(nn.Module):
    inputs = X

    def forward(self, x):
        a = 1
        return a is 1


class S3(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(3)])

    def forward(self, x):
        for i in range(len(self.layers)):
            x = self.layers[i](x)
        return x


class S4(S3):
    def forward(self, x):
        for i, l in enumerate(self.layers):
            if i == 2:
                continue
            x = l(x)
        return x


class S5(S3):
    def forward(self, x):
        for l in self.layers[:-1]:
            x = l(x)
        return self.layers[-1](x)


class S6(S3):
    def forward(self, x):
        for l, m in zip(self.layers, reversed(self.layers)):
            x = l(m(x))
        return x


class S7(S3):
    def forward(self, x):
        outs = [l(x) for l in self.layers]
        return torch.stack(outs)


class S8(S3):
    def forward(self, x):
        return functools.reduce(lambda a, l: l(a), self.layers, x)


class S9(S3):
    def forward(self, x):
        l = self.layers[0]
        return l(x)


class T1(S3):
    def forward(self, x):
        l = self.layers[0] if self.training else self.layers[1]
        return l(x)


class T2(S3):
    def forward(self, x):
        return self.layers[0].weight + self.layers[1].bias


class T3(S3):
    def forward(self, x, i: int = 0):
        return self.layers[i](x)


class T4(S3):
    def forward(self, x):
        for n, p in self.named_parameters():
            x = x + p.sum()
        return x


class T5(S3):
    def forward(self, x):
        return x + sum([p.sum() for p in self.parameters()])


class T6(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.d = nn.ModuleDict({"a": nn.Linear(3, 3), "b": nn.ReLU()})

    def forward(self, x):
        for k, m in self.d.items():
            x = m(x)
        if "a" in self.d:
            x = self.d["a"](x)
        return x


class T7(T6):
    def forward(self, x, k: str = "a"):
        return self.d[k](x)


class T8(T6):
    def forward(self, x):
        return {k: m(x) for k, m in self.d.items()}


class T9(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.ps = nn.ParameterList([nn.Parameter(torch.rand(3)) for _ in range(2)])

    def forward(self, x):
        for p in self.ps:
            x = x + p
        return x + self.ps[0]


class U1(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.ps = nn.ParameterDict({"a": nn.Parameter(torch.rand(3))})

    def forward(self, x):
        return x + self.ps["a"]


class U2(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.l = weight_norm(nn.Linear(3, 3))

    def forward(self, x):
        return self.l(x)


class U3(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.l = wn2(nn.Linear(3, 3))

    def forward(self, x):
        return self.l(x)


class U4(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.l = spectral_norm(nn.Linear(3, 3))

    def forward(self, x):
        return self.l(x)


class U5(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.act = {"relu": F.relu, "gelu": F.gelu}["relu"]
        self.act2 = torch.tanh
        self.act3 = nn.ReLU()

    def forward(self, x):
        return self.act3(self.act2(self.act(x)))


class U6(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.fns = [F.relu, F.gelu]

    def forward(self, x):
        return self.fns[0](x)


class U7(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.fn = functools.partial(F.softmax, dim=-1)

    def forward(self, x):
        return self.fn(x)


class U8(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.l = nn.Linear(3, 3)
        self.l.register_forward_hook(lambda m, i, o: o)

    def forward(self, x):
        return self.l(x)


class U9(nn.Module):
    inputs = X

    @property
    def scale(self) -> float:
        return 2.0

    def forward(self, x):
        return x * self.scale


class V1(nn.Module):
    inputs = X

    @property
    def scale(self):
        return self.nothing

    def forward(self, x):
        return x


class V2(nn.Module):
    inputs = X

    @staticmethod
    def f(x):
        return x + 1

    @classmethod
    def g(cls, x):
        return x + 2

    def forward(self, x):
        return self.f(x)


class V3(V2):
    def forward(self, x):
        return self.g(x)


class V5(nn.Module):
    inputs = X
    K = 3
    names: List[str] = ["a"]

    def forward(self, x):
        return x * self.K


class V6(nn.Module):
    inputs = X
    K: Final[int] = 3

    def forward(self, x):
        return x * self.K


class V7(nn.Module):
    inputs = X
    __constants__ = ["K"]
    K = 3

    def forward(self, x):
        return x * self.K


class V8(nn.Linear):
    inputs = X

    def __init__(self):
        super().__init__(3, 3)

    def forward(self, x):
        return F.linear(x, self.weight, self.bias)


class V9(nn.Linear):
    inputs = X

    def __init__(self):
        super().__init__(3, 3)

    def forward(self, x):
        return super().forward(x)


class W1(nn.Sequential):
    inputs = X

    def __init__(self):
        super().__init__(nn.Linear(3, 3), nn.ReLU())


class W2(nn.Sequential):
    inputs = X

    def __init__(self):
        super().__init__(nn.Linear(3, 3), nn.ReLU())

    def forward(self, x):
        for m in self:
            x = m(x)
        return x


class W3(nn.ModuleList):
    inputs = X

    def __init__(self):
        super().__init__([nn.Linear(3, 3), nn.ReLU()])

    def forward(self, x):
        for m in self:
            x = m(x)
        return x


class W4(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.register_buffer("b", None)
        self.register_parameter("p", None)

    def forward(self, x):
        if self.b is not None:
            x = x + self.b
        return x


class W5(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(3, 3, batch_first=True)
        self.lstm = nn.LSTM(3, 3)

    def forward(self, x):
        o, h = self.gru(x)
        o, (h, c) = self.lstm(x)
        return o


class W6(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 3)

    def forward(self, x, state=None):
        return self.lstm(x, state)


class W7(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        for i in range(3):
            setattr(self, f"l{i}", nn.Linear(3, 3))

    def forward(self, x):
        for i in range(3):
            x = getattr(self, f"l{i}")(x)
        return x


class W8(W7):
    def forward(self, x):
        return self.l0(self.l1(x))


class W9(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.xs = []
        self.d = {}
        self.t = ()
        self.n = None
        self.m = [1, "a"]

    def forward(self, x):
        return x


class Y1(W9):
    def forward(self, x):
        return x + len(self.xs)


class Y2(W9):
    def forward(self, x):
        if self.n is None:
            return x
        return x + self.n


class Y3(W9):
    def forward(self, x):
        return x + self.m[0]


class Y4(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.cache: Dict[str, Tensor] = {}
        self.hist: List[Tensor] = []
        self.h: Optional[Tensor] = None

    def forward(self, x):
        self.cache["a"] = x
        self.hist.append(x)
        self.h = x
        return x


class Y5(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.h: Optional[Tensor] = None

    def forward(self, x):
        if self.h is not None:
            return x + self.h
        return x


class Y6(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.h: Optional[Tensor] = None

    def forward(self, x):
        h = self.h
        if h is not None:
            return x + h
        return x


class Y7(nn.Module):
    inputs = X

    def forward(self, x):
        def f(a):
            return a

        return f(x)


class Y8(nn.Module):
    inputs = X

    def forward(self, x):
        return torch.utils.checkpoint.checkpoint(lambda y: y, x)


class Y9(nn.Module):
    inputs = X

    def forward(self, xs: List[Tensor]):
        return torch.cat(xs), torch.stack([*xs])


class Z1(nn.Module):
    inputs = X

    def forward(self, x):
        if torch.jit.is_scripting():
            return x
        return self.undefined(x)


class Z2(nn.Module):
    inputs = X

    def forward(self, x):
        if not torch.jit.is_scripting():
            return self.undefined(x)
        else:
            return x


class Z3(nn.Module):
    inputs = X

    @torch.jit.export
    def other(self, x, y=None):
        return x.foo()

    def forward(self, x):
        return x


class Z4(nn.Module):
    inputs = X

    @torch.jit.unused
    def other(self, x, *a):
        return x.foo()

    def forward(self, x):
        return x if x.sum() > 0 else self.other(x)


class Z5(nn.Module):
    inputs = X

    def __call__(self, x):
        return super().__call__(x)

    def forward(self, x):
        return x


class Z6(nn.Module):
    inputs = X

    def forward(self, x):
        return self._impl(x)

    def _impl(self, x, flag=True):
        if flag:
            return x
        return x, x


class Z7(nn.Module):
    inputs = X

    def forward(self, x):
        out = {}
        out["x"] = x
        out["n"] = 1
        return out


class Z8(nn.Module):
    inputs = X

    def forward(self, x) -> Union[Tensor, Tuple[Tensor, Tensor]]:
        if self.training:
            return x, x
        return x


class Z9(nn.Module):
    inputs = X

    def forward(self, x):
        if self.training:
            return x, x
        return x
