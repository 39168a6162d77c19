"""What constructors are given to hold: eager does as before where an attribute may be set, missing or asked for at another time."""

from __future__ import annotations

import pytest

from tests.fixes.test_forms import mended, used

torch = pytest.importorskip("torch")

CASES = {
    "parameters of two submodules": """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(5, 5).double()
        self.b = nn.Linear(5, 5)

    def forward(self, x):
        x = self.a(x.to(next(self.a.parameters()).dtype))
        return self.b(x.to(next(self.b.parameters()).dtype))
""",
    "parameters of a dtype that is given": """\
class Net(nn.Module):
    def __init__(self, dtype=torch.float64):
        super().__init__()
        self.fc = nn.Linear(5, 5, dtype=dtype)

    def forward(self, x):
        return self.fc(x.to(next(self.parameters()).dtype))
""",
    "parameters made half": """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 5)
        self.fc.half()

    def forward(self, x):
        return x.to(next(self.parameters()).dtype) * 2
""",
    "a child that leaves the constructor out": """\
class Base(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)

    def where(self):
        return next(self.parameters()).device


class Net(Base):
    def __init__(self):
        nn.Module.__init__(self)
        self.fc = nn.Linear(5, 5)

    def forward(self, x):
        return self.fc(x.to(self.where()))
""",
    "another name of the module itself": """\
class Net(nn.Module):
    def __init__(me):
        super().__init__()
        me.fc = nn.Linear(5, 5)

    def forward(self, x):
        return self.fc(x.to(next(self.parameters()).dtype))
""",
    "a constructor that asks for the dtype": """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 5)
        self.dt = self.kind()

    def kind(self):
        return next(self.parameters()).dtype

    def forward(self, x):
        return self.fc(x.to(self.kind()))


def use(net):
    return net(torch.rand(2, 5)), float(net.half().kind() is torch.float16)
""",
    "a constructor that returns early": """\
class Net(nn.Module):
    def __init__(self, a=True):
        super().__init__()
        self.fc = nn.Linear(5, 5)
        if a:
            return
        self.x = 1

    def forward(self, x):
        if torch.cuda.is_available():
            x = x.cpu()
        return self.fc(x)
""",
    "a constructor that asks for the machine": """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 5)
        self.y = self.move(torch.rand(2, 5))

    def move(self, x):
        if torch.cuda.is_available():
            x = x.cuda()
        return x

    def forward(self, x):
        return self.fc(self.move(x))
""",
    "a child that asks for no machine": """\
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = 1

    def where(self, x):
        if torch.cuda.is_available():
            x = x.cuda()
        return x


class Net(Base):
    def __init__(self):
        nn.Module.__init__(self)
        self.fc = nn.Linear(5, 5)

    def forward(self, x):
        return self.fc(self.where(x))
""",
    "a child with other options": """\
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.kw = {"dim": -1}

    def forward(self, x):
        return torch.sum(x, **self.kw)


class Net(Base):
    def __init__(self):
        super().__init__()
        self.kw = {"dim": 0, "keepdim": True}
""",
    "a child that changes an option": """\
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.kw = {"dim": -1}

    def forward(self, x):
        return torch.sum(x, **self.kw)


class Net(Base):
    def __init__(self):
        super().__init__()
        self.kw["dim"] = 0
""",
    "options that are changed outside": """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.kw = {"dim": -1}

    def forward(self, x):
        return torch.sum(x, **self.kw)


def build():
    n = Net()
    n.kw["dim"] = 0
    return n


def use(net):
    return build()(torch.rand(2, 5))
""",
    "options that hold a parameter": """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.kw = {"weight": nn.Parameter(torch.ones(5)), "bias": None}

    def forward(self, x):
        return F.layer_norm(x, [5], **self.kw)


def use(net):
    return net(torch.rand(2, 5)), [k for k,_ in net.named_parameters()]
""",
    "a field that few configurations have": """\
class Cfg:
    def __init__(self):
        self.a = 2.0


class Net(nn.Module):
    def __init__(self, cfg=None, use=False):
        super().__init__()
        self.cfg = cfg or Cfg()
        self.use = use

    def forward(self, x):
        if self.use:
            x = x * self.cfg.b
        return x * self.cfg.a
""",
    "a key that few configurations have": """\
class Net(nn.Module):
    def __init__(self, cfg=None, use=False):
        super().__init__()
        self.cfg = cfg if cfg is not None else {"a": 2.0}
        self.use = use

    def forward(self, x):
        if self.use:
            x = x * self.cfg["b"]
        return x * self.cfg["a"]
""",
    "a field that is set below": """\
class Cfg:
    pass


class Net(nn.Module):
    def __init__(self, cfg=None):
        super().__init__()
        self.cfg = cfg or Cfg()
        self.cfg.scale = 3.0

    def forward(self, x):
        return x * self.cfg.scale
""",
    "a field that a method sets": """\
class Cfg:
    scale = 1.0


class Net(nn.Module):
    def __init__(self, cfg=None):
        super().__init__()
        self.cfg = cfg or Cfg()

    def set(self, s):
        self.cfg.scale = s

    def forward(self, x):
        return x * self.cfg.scale


def use(net):
    net.set(4.0)
    return net(torch.rand(2, 5))
""",
    "a child that sets the function": """\
class Base(nn.Module):
    def __init__(self, act=None):
        super().__init__()
        self.act = act

    def forward(self, x):
        if self.act:
            x = self.act(x)
        return x


class Net(Base):
    def __init__(self):
        super().__init__()
        self.act = F.relu


def use(net):
    return net(torch.rand(2, 5)-.5)
""",
    "a function that is taken away": """\
class Net(nn.Module):
    def __init__(self, act=F.relu):
        super().__init__()
        self.act = act

    def forward(self, x):
        if self.act:
            x = self.act(x)
        return x


def build():
    n = Net()
    n.act = None
    return n


def use(net):
    return build()(torch.rand(2, 5)-.5)
""",
    "a layer that draws numbers when it is made": """\
class Noise(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = torch.rand(5)

    def forward(self, x):
        return x + self.n


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = 2

    def forward(self, x):
        return Noise()(x)


def use(net):
    return net(torch.rand(2, 5)), net(torch.rand(2, 5))
""",
    "a layer that counts": """\
class Acc(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = []

    def forward(self, x):
        self.seen.append(1)
        return x * len(self.seen)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = 2

    def forward(self, x):
        return Acc()(x)


def use(net):
    return net(torch.rand(2, 5)), net(torch.rand(2, 5))
""",
}


@pytest.mark.parametrize("text", CASES.values(), ids=CASES)
def test_eager_does_as_before(tmp_path, text):
    before, after, done = mended(tmp_path, text)
    assert not done.report.errors
    (keys, wanted), (kept, found) = used(before), used(after)
    assert keys == kept
    torch.testing.assert_close(found, wanted)
