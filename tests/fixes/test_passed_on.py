"""What is passed on, what None is welcome to and what comes of lists: eager does as before, and torch scripts most of it."""

from __future__ import annotations

import pytest

from tests.fixes.test_forms import made, mended
from tests.fixes.test_names_and_callers import used

torch = pytest.importorskip("torch")

MENDED = {
    "a parent that takes more": """\
class Base(nn.Module):
    def forward(self, x, scale: float = 2.0, flip: bool = False):
        return -x * scale if flip else x * scale


class Net(Base):
    def forward(self, x, *args, **kwargs):
        # parent
        y = super().forward(x, *args, **kwargs)  # all
        return y + 1


def use(net):
    return net(torch.rand(2, 5)), net(torch.rand(2, 5), 3.0), net(torch.rand(2, 5), flip=True), net(torch.rand(2, 5), 3.0, True)
""",
    "a function that takes more": """\
def go(x, scale: float = 2.0, mode: str = "a"):
    return x * scale if mode == "a" else x


class Net(nn.Module):
    def forward(self, x, **kwargs):
        return go(x, **kwargs)


def use(net):
    return net(torch.rand(2, 5)), net(torch.rand(2, 5), mode='b')
""",
    "a loop that passes all on": """\
class Net(nn.Module):
    def forward(self, x, *args):
        for _ in range(2):
            x = self.a(x, *args)
        return x

    def a(self, x, s: float = 2.0):
        return x * s


def use(net):
    return net(torch.rand(2, 5)), net(torch.rand(2, 5), 3.0)
""",
    "a submodule that takes more": """\
class Inner(nn.Module):
    def forward(self, x, mask: "Optional[Tensor]" = None, *, times: int = 2):
        return x * times if mask is None else x * mask * times


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x, **kwargs):
        return self.inner(x, **kwargs)


def use(net):
    return net(torch.rand(2, 5)), net(torch.rand(2, 5), times=3), net(torch.rand(2, 5), mask=torch.rand(5))
""",
    "the rest of a size": """\
class Net(nn.Module):
    def forward(self, x):
        b, *rest = x.size()
        *most, last = x.unsqueeze(0).shape[:]
        return x.view(b, -1) * last + len(rest) + len(most)
""",
    "the rest of two sizes": """\
class Net(nn.Module):
    def forward(self, x):
        b, *items = x.size()
        c, *other = x.size()
        return x * items[0] * other[0] * b * c
""",
    "a tuple of a range": """\
class Net(nn.Module):
    def forward(self, x):
        dims = tuple(range(-1, 0))
        return torch.fft.rfftn(x, dim=dims).abs() + x.sum(tuple(range(1, x.dim()))).sum()
""",
    "a helper that asks for None": """\
class Net(nn.Module):
    def forward(self, x, mask: "Optional[Tensor]" = None):
        return x * self.fixed(mask, x)

    def fixed(self, mask: torch.Tensor, x: Tensor) -> Tensor:
        if mask is None:
            return torch.ones_like(x)
        return mask


def use(net):
    return net(torch.rand(2, 5)), net(torch.rand(2, 5), torch.rand(2, 5))
""",
    "a helper that is given None": """\
class Net(nn.Module):
    def forward(self, x):
        return x * fixed(None, x)


def fixed(mask: Tensor, x: Tensor) -> Tensor:
    if mask is None:
        return torch.ones_like(x)
    return mask
""",
    "a method without gradients": """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 5)

    def forward(self, x):
        return self.fc(x) + self.aux(x)

    @torch.no_grad()

    def aux(self, x):
        # doc
        x = F.relu(x)
        if x.sum() > 0:
            return self.fc(x)
        return F.relu(x)


def use(net):
    return net(torch.rand(2, 5)), net(torch.rand(2, 5)).requires_grad, net.aux(torch.rand(2, 5)).requires_grad
""",
    "a method of the parent in full precision": """\
class Base(nn.Module):

    @torch.amp.autocast(device_type="cpu", enabled=False)

    def aux(self, x):
        return F.relu(x)


class Net(Base):
    def forward(self, x):
        return self.aux(x)
""",
    "a tuple that is told to be a Tensor": """\
def parts(x) -> torch.Tensor:
    return x, x + 1


class Net(nn.Module):
    def both(self, x) -> "Tuple[Tensor, Tensor]":
        return parts(x)

    def forward(self, x):
        a, b = self.both(x)
        return a + b
""",
    "the rest of one of two lists": """\
class Net(nn.Module):
    def forward(self, x):
        first, *rest = [x, x + 1] if x.dim() > 1 else [x, x, x]
        return first + rest[0] * len(rest)
""",
}
LEFT = {
    "a tuple that is added to another": """\
class Net(nn.Module):
    def forward(self, x):
        size = tuple([n + 1 for n in x.shape])
        return torch.zeros((2,) + size[1:])


def use(net):
    return (net(torch.rand(2, 5)),)
""",
    "the rest of a generator": """\
class Net(nn.Module):
    def forward(self, x):
        a, *rest = (i for i in x.shape)
        return x * a + rest[0]
""",
    "a function of the same name within": """\
def go(y, shift: float = 1.0):
    return y + shift


class Net(nn.Module):
    def forward(self, x, **kwargs):
        def go(y, scale: float = 3.0):
            return y * scale

        return go(x, **kwargs)
""",
    "a variable that holds a method": """\
def go(y, shift: float = 1.0):
    return y + shift


class Net(nn.Module):
    def forward(self, x, **kwargs):
        go = self.other
        return go(x, **kwargs)

    def other(self, x, scale: float = 2.0):
        return x * scale
""",
    "a method that needs more": """\
class Net(nn.Module):
    def forward(self, x, *args):
        return self.go(x, *args)

    def go(self, x, y, k: int = 2):
        return x + y * k


def use(net):
    return net(torch.rand(2, 5), torch.rand(5)), net(torch.rand(2, 5), torch.rand(5), 3)
""",
    "a parent that reads keywords": """\
class Base(nn.Module):
    def forward(self, x, **kwargs):
        return x * kwargs.get("scale", 1.0)


class Net(Base):
    def forward(self, x, **kwargs):
        return super().forward(x, **kwargs) + 1


def use(net):
    return net(torch.rand(2, 5)), net(torch.rand(2, 5), scale=2.0), net(torch.rand(2, 5), scale=2.0, other=1)
""",
    "a method that reads keywords": """\
class Net(nn.Module):
    def forward(self, x, **kwargs):
        return self.inner(x, **kwargs)

    def inner(self, x, **kwargs):
        return x * kwargs.get("scale", 1.0)


def use(net):
    return net(torch.rand(2, 5)), net(torch.rand(2, 5), scale=2.0), net(torch.rand(2, 5), scale=2.0, more=1)
""",
    "a child that is given more": """\
class Base(nn.Module):
    def forward(self, x, *args):
        return self.run(x, *args)

    def run(self, x, s: int = 2):
        return x * s


class Net(Base):
    pass


def use(net):
    return net(torch.rand(2, 5)), net(torch.rand(2, 5), 4)
""",
    "a variable of the same name": """\
class Net(nn.Module):
    def forward(self, x, **kwargs):
        scale = 3.0
        return self.go(x * scale, **kwargs)

    def go(self, x, scale: float = 2.0):
        return x * scale


def use(net):
    return net(torch.rand(2, 5)), net(torch.rand(2, 5), scale=3.0)
""",
    "a child with another method": """\
class Base(nn.Module):
    def forward(self, x, **kwargs):
        return self.go(x, **kwargs)

    def go(self, x, scale: float = 2.0):
        return x * scale


class Net(Base):
    def go(self, x, shift: float = 2.0):
        return x + shift


def use(net):
    return net(torch.rand(2, 5)), net(torch.rand(2, 5), shift=3.0)
""",
    "defaults that are made": """\
K = 3


class Net(nn.Module):
    def forward(self, x, **kwargs):
        return self.go(x, **kwargs)

    def go(self, x, scale: int = K, sizes=[1]):
        sizes.append(1)
        return x * scale * len(sizes)


def use(net):
    return net(torch.rand(2, 5)), net(torch.rand(2, 5), scale=3)
""",
    "keywords passed on twice": """\
class Net(nn.Module):
    def forward(self, x, **kwargs):
        return self.a(x, **kwargs)

    def a(self, x, **kwargs):
        return self.b(x, **kwargs)

    def b(self, x, **kw):
        return x * kw.get("scale", 2.0)


def use(net):
    return net(torch.rand(2, 5)), net(torch.rand(2, 5), scale=3.0)
""",
}


@pytest.mark.parametrize("text", [*MENDED.values(), *LEFT.values()], ids=[*MENDED, *LEFT])
def test_eager_does_as_before(tmp_path, text):
    before, after, done = mended(tmp_path, text, "from torch import Tensor\n")
    assert not done.report.errors
    (keys, wanted), (kept, found) = used(before), used(after)
    assert keys == kept
    torch.testing.assert_close(found, wanted)


@pytest.mark.parametrize("text", MENDED.values(), ids=MENDED)
def test_torch_scripts_it(tmp_path, text):
    _, after, done = mended(tmp_path, text, "from torch import Tensor\n")
    assert [f.message for f in done.report.findings if f.family == "script"] == []
    module, x = made(after), torch.rand(2, 5)
    torch.testing.assert_close(torch.jit.script(module)(x), module(x))
