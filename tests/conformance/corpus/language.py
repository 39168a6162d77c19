"""Statements, expressions and builtins of the language."""

import torch, math, enum, functools
from torch import nn, Tensor
import torch.nn.functional as F
from typing import *
from collections import OrderedDict, namedtuple
from dataclasses import dataclass

X = lambda: (torch.rand(3, 3),)


class Color(enum.Enum):
    R = 1
    G = 2


class A1(nn.Module):
    inputs = X

    def forward(self, x):
        c = Color.R
        return x * c.value if c == Color.R else x


class A2(nn.Module):
    inputs = X

    def forward(self, x):
        for c in Color:
            x = x + c.value
        return x


class A3(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.c = Color.G

    def forward(self, x):
        if self.c is Color.G:
            return x
        return x + 1


@dataclass
class Cfg:
    a: int = 1
    b: float = 0.5


class A4(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.cfg = Cfg()

    def forward(self, x):
        return x * self.cfg.a


class A5(nn.Module):
    inputs = X

    def forward(self, x):
        c = Cfg(2, 0.1)
        return x * c.b


P = namedtuple("P", ["a", "b"])


class A6(nn.Module):
    inputs = X

    def forward(self, x):
        p = P(x, x + 1)
        return p.a + p[1]


class A7(nn.Module):
    inputs = X

    def forward(self, x):
        a, *b = x.shape
        return x.view(a, -1)


class A8(nn.Module):
    inputs = X

    def forward(self, x):
        b, c = x.shape
        return x.reshape(b, 1, c).squeeze(1)[..., None]


class A9(nn.Module):
    inputs = X

    def forward(self, x):
        x[0] += 1
        x[:, 0] = 2
        x[x > 0.5] = 0
        return x


class B1(nn.Module):
    inputs = X

    def forward(self, x):
        return x[[0, 1]], x[torch.tensor([0, 1])], x[:, [0]], x[::2]


class B2(nn.Module):
    inputs = X

    def forward(self, x):
        return x[::-1]


class B3(nn.Module):
    inputs = X

    def forward(self, x):
        s = "abc"
        return s[::-1], s.replace("a", "b"), s.split("b"), ",".join(["a"]), s.find("b"), s * 2


class B4(nn.Module):
    inputs = X

    def forward(self, x):
        return "%d %s" % (1, "a"), "{:.2f}".format(0.5)


class B5(nn.Module):
    inputs = X

    def forward(self, x):
        return f"{0.5:.2f}"


class B6(nn.Module):
    inputs = X

    def forward(self, x):
        l = [1, 2, 3]
        l.insert(0, 5)
        l.remove(1)
        l.reverse()
        l.sort()
        l.pop()
        l.clear()
        l.extend([1])
        l += [2]
        return l.count(1), l.index(2), l.copy(), len(l), 1 in l


class B7(nn.Module):
    inputs = X

    def forward(self, x):
        l = [(2, "a"), (1, "b")]
        l.sort(key=lambda t: t[0])
        return l


class B8(nn.Module):
    inputs = X

    def forward(self, x):
        d = {"a": 1}
        d.update({"b": 2})
        d.setdefault("c", 3)
        v = d.pop("a")
        w = d.get("z", 0)
        for k in d:
            v += d[k]
        for k, q in d.items():
            v += q
        return v, "a" in d, len(d), w


class B9(nn.Module):
    inputs = X

    def forward(self, x):
        return (
            all([True, False]),
            any([True]),
            sum([1, 2]),
            sum([0.5]),
            max([1, 2]),
            min([1.0, 2.0]),
            sorted([2, 1]),
            abs(-1),
        )


class C1(nn.Module):
    inputs = X

    def forward(self, x):
        return list(zip([1, 2], ["a", "b"])), list(enumerate([1, 2])), list(range(3)), list(reversed([1, 2]))


class C2(nn.Module):
    inputs = X

    def forward(self, x):
        y = 0
        for a, (b, c) in zip([1, 2], [(1, 2), (3, 4)]):
            y += a + b + c
        return y


class C3(nn.Module):
    inputs = X

    def forward(self, x):
        return [i for i in range(3) if i > 0], [a + b for a, b in zip([1], [2])], {i: i for i in range(2)}


class C4(nn.Module):
    inputs = X

    def forward(self, x):
        return [[j for j in range(2)] for i in range(2)]


class C5(nn.Module):
    inputs = X

    def forward(self, x):
        return tuple([1, 2])


class C6(nn.Module):
    inputs = X

    def forward(self, x):
        return tuple(x.shape)


class C7(nn.Module):
    inputs = X

    def forward(self, x):
        return set([1, 2])


class C8(nn.Module):
    inputs = X

    def forward(self, x):
        return isinstance(x, (int, Tensor)), type(x) == Tensor


class C9(nn.Module):
    inputs = X

    def forward(self, x):
        return math.ceil(2.5), math.floor(2.5), math.log2(8), math.isinf(1.0), math.prod([1, 2])


class D1(nn.Module):
    inputs = X

    def forward(self, x):
        return math.ceil(x.size(0) / 2), int(math.sqrt(x.size(0))), x.size(0) ** 0.5


class D2(nn.Module):
    inputs = X

    def forward(self, x):
        return (
            torch.zeros(x.size()),
            torch.zeros(x.shape[0], 3),
            torch.zeros((3, 3), device=x.device, dtype=x.dtype),
            torch.full_like(x, 1),
            torch.arange(0, 3, 1),
        )


class D3(nn.Module):
    inputs = X

    def forward(self, x):
        return torch.zeros(*x.shape)


class D4(nn.Module):
    inputs = X

    def forward(self, x):
        return (
            x.new_tensor([1.0, 2.0]),
            x.new_zeros(3),
            x.type_as(x),
            x.to("cpu"),
            x.to(torch.device("cpu")),
            x.type(torch.float64),
        )


class D6(nn.Module):
    inputs = X

    def forward(self, x):
        return x.dtype == torch.float32, x.requires_grad, x.is_contiguous(), x.names


class D7(nn.Module):
    inputs = X

    def forward(self, x):
        return F.interpolate(x[None, None], scale_factor=2.0, mode="bilinear", align_corners=False)


class D8(nn.Module):
    inputs = X

    def forward(self, x):
        return F.interpolate(x[None, None], size=(6, 6)), F.interpolate(x[None, None], scale_factor=2)


class D9(nn.Module):
    inputs = X

    def forward(self, x):
        return (
            F.pad(x, (1, 1)),
            F.one_hot(torch.tensor([0, 1]), 3),
            F.normalize(x, dim=-1),
            F.softmax(x),
            F.gelu(x, approximate="tanh"),
        )


class E1(nn.Module):
    inputs = X

    def forward(self, x):
        with torch.no_grad():
            y = x + 1
        with torch.autocast("cpu", enabled=False):
            y = y + 1
        return y


class E3(nn.Module):
    inputs = X

    def forward(self, x):
        assert x.dim() == 2, f"bad {x.shape}"
        if x.dim() != 2:
            raise ValueError("bad {}".format(x.shape))
        return x


class E4(nn.Module):
    inputs = X

    def forward(self, x):
        try:
            return x
        finally:
            pass


class E5(nn.Module):
    inputs = X

    def forward(self, x):
        print("x", x.shape, end="")
        return x


class E6(nn.Module):
    inputs = X

    def forward(self, x):
        y = x.clone()
        del y
        return x


class E7(nn.Module):
    inputs = X

    def forward(self, x, *, scale: float = 1.0):
        return x * scale


class E8(nn.Module):
    inputs = X

    def forward(self, x, /, y: int = 2):
        return x * y


class E9(nn.Module):
    inputs = X

    def forward(self, x):
        x: Tensor = x + 1
        y: Optional[Tensor] = None
        if x.sum() > 0:
            y = x
        assert y is not None
        return y + 1
