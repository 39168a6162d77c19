"""Names, callers and counts that fixes must not take for others: eager does as before."""

from __future__ import annotations

import pytest

from tests.fixes.test_forms import mended, used

torch = pytest.importorskip("torch")

CASES = {
    "a module appended below": """\
class Net(nn.Module):
    def __init__(self, n=2):
        super().__init__()
        self.n = n
        self.layers = nn.ModuleList([nn.Linear(5, 5) for _ in range(n)])
        self.layers.append(nn.Linear(5, 5))

    def forward(self, x):
        for i in range(self.n):
            x = self.layers[i](x)
        return x
""",
    "two loops that append": """\
class Net(nn.Module):
    def __init__(self, n=2):
        super().__init__()
        self.n = n
        self.layers = nn.ModuleList()
        for i in range(n):
            self.layers.append(nn.Linear(5, 5))
        for i in range(n):
            self.layers.append(nn.Linear(5, 5))

    def forward(self, x):
        for i in range(self.n):
            x = self.layers[i](x)
        return x
""",
    "a number that is set twice": """\
class Net(nn.Module):
    def __init__(self, n=2):
        super().__init__()
        self.n = n
        self.layers = nn.ModuleList([nn.Linear(5, 5) for _ in range(n)])
        self.n = n - 1

    def forward(self, x):
        for i in range(self.n):
            x = self.layers[i](x)
        return x
""",
    "a variable that is set twice": """\
class Net(nn.Module):
    def __init__(self, n=2):
        super().__init__()
        self.n = n
        n = n + 1
        self.layers = nn.ModuleList([nn.Linear(5, 5) for _ in range(n)])

    def forward(self, x):
        for i in range(self.n):
            x = self.layers[i](x)
        return x
""",
    "modules added": """\
class Net(nn.Module):
    def __init__(self, n=2):
        super().__init__()
        self.n = n
        self.layers = nn.ModuleList([nn.Linear(5, 5) for _ in range(n)])
        self.layers += [nn.Linear(5, 5)]

    def forward(self, x):
        for i in range(self.n):
            x = self.layers[i](x)
        return x
""",
    "an argument of the same name": """\
class Net(nn.Module):
    def __init__(self, n=3):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(5, 5) for _ in range(n)])

    def forward(self, x, n: int = 1):
        for i in range(n):
            x = self.layers[i](x)
        return x


def use(net):
    return net(torch.rand(2, 5)), net(torch.rand(2, 5), 2)
""",
    "modules appended by condition": """\
class Net(nn.Module):
    def __init__(self, n=2):
        super().__init__()
        self.n = n
        self.layers = nn.ModuleList()
        for i in range(n):
            self.layers.append(nn.Linear(5, 5))
            if i == 0:
                self.layers.append(nn.ReLU())

    def forward(self, x):
        for i in range(self.n):
            x = self.layers[i](x)
        return x
""",
    "a loop from the last one on": """\
class Net(nn.Module):
    def __init__(self, n=3):
        super().__init__()
        self.n = n
        self.layers = nn.ModuleList([nn.Linear(5, 5) for _ in range(n)])

    def forward(self, x):
        for i in range(-1, len(self.layers)):
            x = self.layers[i](x)
        return x
""",
    "a global named as an attribute": """\
scale = 2.0


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 5.0

    def forward(self, x):
        return x * scale * self.scale
""",
    "a global named as a parameter": """\
scale = 2.0


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(5))

    def forward(self, x):
        return x * scale
""",
    "a global named as a constant of the parent": """\
scale = 2.0


class Base(nn.Module):
    scale = 7.0

    def base(self, x):
        return x * self.scale


class Net(Base):
    def forward(self, x):
        return self.base(x) * scale
""",
    "a global named as an attribute of the child": """\
scale = 2.0


class Base(nn.Module):
    def forward(self, x):
        return x * scale


class Net(Base):
    def __init__(self):
        super().__init__()
        self.scale = 9.0
""",
    "globals named as members of modules": """\
training = 3
half = 0.5


class Net(nn.Module):
    def forward(self, x):
        return x * training * half


def use(net):
    return net(torch.rand(2, 5)), net.eval()(torch.rand(2, 5)), net.half().parameters() and 1
""",
    "a global below the class": """\
class Net(nn.Module):
    def forward(self, x):
        return x * scale
scale = 2.0
""",
    "a variable of the function around the class": """\
def make():
    scale = 3.0
    class Net(nn.Module):
        def forward(self, x):
            return x * scale
    return Net
scale = 2.0
Net = make()
""",
    "a global named as a constant of the child": """\
S = 3


class Base(nn.Module):
    def forward(self, x):
        return x * S


class Net(Base):
    S = 4
""",
    "a pair that is swapped meanwhile": """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.pair = nn.ModuleList([nn.Linear(5, 5), nn.ReLU()])

    def swap(self):
        self.pair = nn.ModuleList([nn.ReLU(), nn.Linear(5, 5)])

    def forward(self, x):
        a, b = self.pair
        self.swap()
        return b(a(x))
""",
    "a caller with another keyword": """\
class Net(nn.Module):
    def forward(self, x, **kwargs):
        n = kwargs.get("n", 2)
        return x * n


class Other(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()

    def forward(self, x):
        return self.net(x, n=3, unused=4)


def use(net):
    return net(torch.rand(2, 5)), Other()(torch.rand(2, 5))
""",
    "a keyword that is taken twice": """\
class Net(nn.Module):
    def forward(self, x, **kwargs):
        a = kwargs.pop("s", 2.0)
        b = kwargs.pop("s", 2.0)
        return x * a + b


def use(net):
    return net(torch.rand(2, 5)), net(torch.rand(2, 5), s=3.0)
""",
    "a keyword named as a global": """\
scale = 7.0


class Net(nn.Module):
    def forward(self, x, **kwargs):
        y = x * scale
        return y * kwargs.get("scale", 1.0)


def use(net):
    return net(torch.rand(2, 5)), net(torch.rand(2, 5), scale=3.0)
""",
    "a keyword that a class would rename": """\
class Net(nn.Module):
    def forward(self, x, **kwargs):
        kw = kwargs.get("__scale", 1.0)
        return x * kw


def use(net):
    return net(torch.rand(2, 5)), net(torch.rand(2, 5), **{'__scale': 2.0})
""",
    "options computed before a change": """\
class Net(nn.Module):
    def forward(self, x, flag: bool = False):
        kw = {"other": x.sum()} if flag else {"other": x.mean()}
        x.add_(1)
        return torch.add(x, **kw)


def use(net):
    return net(torch.rand(2, 5)), net(torch.rand(2, 5), True)
""",
    "options that are drawn first": """\
class Net(nn.Module):
    def forward(self, x, flag: bool = False):
        kw = {"other": torch.rand(5)} if flag else {"other": torch.zeros(5)}
        y = torch.rand(5)
        return torch.add(x * y, **kw)


def use(net):
    return net(torch.rand(2, 5)), net(torch.rand(2, 5), True)
""",
    "a function that is given more elsewhere": """\
def scaled(x, s: int = 1):
    return x * s


def wrap(x, *args):
    return scaled(x, *args)


class Net(nn.Module):
    def forward(self, x):
        return wrap(x)


def other(x):
    return wrap(x, 5)


def use(net):
    return net(torch.rand(2, 5)), other(torch.rand(2, 5))
""",
    "a method that gives more": """\
class Inner(nn.Module):
    def forward(self, x, m=None):
        return x if m is None else x + m


class Wrap(nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, x, *args):
        return self.fn(x, *args)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.seq = Wrap(Inner())

    def forward(self, x):
        return self.step(x)

    def step(self, x):
        return self.seq(x, x)
""",
    "a method with the name of a package": """\
class Net(nn.Module):
    def torch(self):
        return 1

    def forward(self, x):
        return self.step(x, None)

    def step(self, x, mask):
        if mask is not None:
            x = x * mask
        return x
""",
    "an attribute with the name of a type": """\
class Net(nn.Module):
    List = 3

    def forward(self, x):
        return self.first([x])

    def first(self, xs):
        return xs[0]
""",
    "a type that is computed": """\
from typing import cast


class Net(nn.Module):
    def forward(self, x):
        return cast(self.note(x), x)

    def note(self, x):
        x.add_(1)
        return torch.Tensor
""",
}


@pytest.mark.parametrize("text", CASES.values(), ids=CASES)
def test_eager_does_as_before(tmp_path, text):
    before, after, done = mended(tmp_path, text)
    assert not done.report.errors
    (keys, wanted), (kept, found) = used(before), used(after)
    assert keys == kept
    torch.testing.assert_close(found, wanted)
