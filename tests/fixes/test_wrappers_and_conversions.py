"""Wrappers that pass on what they are given, and values converted where TorchScript has another type: mended in whole modules."""

from __future__ import annotations

import pytest

from tests.fixes.test_forms import made, mended
from tsguard.repairing.fixing import fix
from tsguard.settings.config import Settings
from tsguard.settings.requests import parse, plan

torch = pytest.importorskip("torch")

PASSED_ON = """\
class Residual(nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, x, *args, **kwargs):
        return self.fn(x, *args, **kwargs) + x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Residual(nn.Linear(5, 5))

    def forward(self, x):
        return self.block(x)
"""
READ_BY_NAME = """\
class Net(nn.Module):
    def forward(self, x, **kwargs):
        scale = kwargs.get("scale", 1.0)
        mask = kwargs.get("mask")
        if mask is not None:
            x = x * mask
        return x * scale * kwargs.get("times", 2)
"""
OPTIONS_OF_MODULE = """\
class Net(nn.Module):
    def __init__(self, keep=True):
        super().__init__()
        self.options = dict(dim=-1, keepdim=keep)

    def forward(self, x):
        return torch.mean(x, **self.options)
"""
CASTS = """\
import typing
from typing import cast


class Net(nn.Module):
    def forward(self, x):
        y = cast(torch.Tensor, x + 1) * 2
        return y - typing.cast("torch.Tensor", torch.relu(x))
"""
POWERS = """\
class Net(nn.Module):
    def __init__(self, side=2):
        super().__init__()
        self.side = side
        self.low = 1

    def forward(self, x):
        x = x.reshape(1, -1).repeat(1, self.side**2)
        return x.view(self.side**2, -1) + torch.zeros(1).uniform_(self.low, 1)
"""
WHERE_PARAMETERS_ARE = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 5)

    @property
    def device(self):
        return next(self.parameters()).device

    def start(self, size: int):
        weight = next(self.fc.parameters()).data
        return weight.new_zeros(size, 5)

    def forward(self, x):
        x = x.to(next(self.parameters()).dtype)
        return self.fc(x) + self.start(4) + torch.arange(5, device=self.device)
"""
MAPS = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 5)

    def forward(self, x):
        parts = list(map(torch.relu, x.unbind(0)))
        more = list(map(lambda part: part * 2, parts))
        return torch.stack(parts) + torch.stack(more) + torch.stack(list(map(self.fc, parts)))
"""
SOME_OF_THEM = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(5, 5) for _ in range(3)])
        self.norms = nn.ModuleList([nn.LayerNorm(5), nn.LayerNorm(5)])

    def forward(self, x):
        for i in range(2):
            x = self.norms[i](self.layers[i](x))
        for i in range(2):
            x = self.layers[i](x)
        for i in range(2):
            x = self.norms[i](x)
        return x
"""
DEFINED_ON_THE_WAY = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(5, 5) for _ in range(3)])

    def forward(self, x, gate=None):
        if gate is not None:
            kept = gate
        for i, layer in enumerate(self.layers):
            x = layer(x)
            if i == 1:
                middle = x
        if gate is not None:
            x = x * kept
        return x + middle
"""
LEGACY = """\
class Gate(nn.Module):
    def __init__(self, power):
        super().__init__()
        self.power = power

    def forward(self, x):
        return x.pow(self.power)


class Net(nn.Module):
    def __init__(self, act=F.relu, power=2):
        super().__init__()
        self.act = act
        self.power = power

    def scaled(self, x, by=1.0 / 9):
        return x * by

    def forward(self, x):
        from torch import nn
        start = torch.zeros(1)
        if torch.cuda.is_available():
            start = start.to(x.device)
        if self.act:
            x = self.act(x)
        x = Gate(self.power)(x)
        return self.scaled(x) * (x > 0.5).type(torch.FloatTensor) + start
"""
HEADS = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.other = self.heads(2)

    def heads(self, count):
        made = [nn.ModuleList(nn.Linear(5, 5) for _ in range(count)) for _ in range(2)]
        return made[0], made[1]

    def forward(self, x):
        sources = [x, x + 1]
        found = []
        for source, one, other in zip(sources, self.one, self.other):
            found.append(one(source) * other(source))
        return torch.stack(found)
"""
BY_CASE = """\
class Net(nn.Module):
    def __init__(self, mode="linear"):
        super().__init__()
        self.mode = mode

    def forward(self, x):
        options = {}
        if self.mode == "linear":
            options["align_corners"] = True
        y = F.interpolate(x, scale_factor=2.0, mode=self.mode, **options)
        more = dict(dim=1, keepdim=True) if self.mode == "linear" else {"dim": 1}
        return y + torch.mean(y, **more)
"""
CONTAINERS = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = nn.ModuleList(nn.ModuleList([nn.Linear(5, 5), nn.LayerNorm(5)]) for _ in range(2))
        self.branches = nn.ModuleList(nn.Linear(5, 5) for _ in range(2))
        self.pad = nn.ConstantPad1d((0, 1), 0)

    def forward(self, x):
        for stage in self.stages:
            fc, norm = stage
            x = norm(fc(x)) + fc(x)
        parts = [x, x + 1]
        parts = [branch(part) for branch, part in zip(self.branches, parts)]
        return self.pad(F.avg_pool1d(parts[0] + parts[1], 2, stride=None))
"""
GIVEN_POWERS = """\
def repeated(x, ratio: int):
    return x.repeat(1, ratio, 1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = 2

    def forward(self, x):
        return repeated(x, 2**self.steps)
"""
FORMS = {
    "containers of modules": CONTAINERS,
    "options that a condition decides about": BY_CASE,
    "what older code writes": LEGACY,
    "heads that a method makes": HEADS,
    "variables that some paths define": DEFINED_ON_THE_WAY,
    "a wrapper of any module": PASSED_ON,
    "keywords that are read by name": READ_BY_NAME,
    "options that the module holds": OPTIONS_OF_MODULE,
    "what only type checkers read": CASTS,
    "powers of integers": POWERS,
    "powers of integers for a function of one's own": GIVEN_POWERS,
    "where the parameters are": WHERE_PARAMETERS_ARE,
    "functions that are mapped": MAPS,
    "the first modules of a list": SOME_OF_THEM,
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_a_module_is_mended(tmp_path, text):
    before, after, done = mended(tmp_path, text)
    assert [f.message for f in done.report.findings if f.family == "script"] == []
    one, other = made(before), made(after)
    assert list(one.state_dict()) == list(other.state_dict())
    x = torch.rand(2, 4, 5)
    for module in (other, torch.jit.script(other)):
        torch.testing.assert_close(module(x), one(x))


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_a_second_run_changes_nothing(tmp_path, text):
    _, after, _ = mended(tmp_path, text)
    settings = Settings(root=tmp_path, jobs=1, cache=False)
    again = fix(plan([parse(str(after), settings)], settings), settings, unsafe=True)
    assert again.changes == {}


KEPT = {
    "what another module holds": """\
class Other(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(5))
        self.fc = nn.Linear(5, 5)


class Wrapper(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner.fc(x) * self.inner.scale


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.wrapper = Wrapper(Other())

    def forward(self, x):
        return self.wrapper(x)
""",
    "arguments that a module passes": """\
class Gated(nn.Module):
    def forward(self, x, gate):
        return x * gate


class Residual(nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, x, *args):
        return self.fn(x, *args) + x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Residual(Gated())

    def forward(self, x):
        return self.block(x, x + 1)
""",
    "a cast of one's own": """\
def cast(kind, x):
    return x.to(kind)


class Net(nn.Module):
    def forward(self, x):
        return cast(torch.float64, x)
""",
    "a number for a function of one's own": """\
def scaled(x, times: int):
    return x * times


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.half = 0.5

    def forward(self, x):
        return scaled(x, self.half)
""",
    "options that change": """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.options = {"dim": -1}
        self.options["keepdim"] = True

    def forward(self, x):
        return torch.mean(x, **self.options)
""",
    "parameters that are computed with": """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 5)

    def forward(self, x):
        return x * next(self.parameters()).mean()
""",
}


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_eager_does_as_before(tmp_path, text):
    before, after, _ = mended(tmp_path, text)
    x = torch.rand(2, 4, 5)
    one, other = made(before), made(after)
    assert list(one.state_dict()) == list(other.state_dict())
    torch.testing.assert_close(other(x), one(x))


def test_a_module_of_unknown_class_is_no_configuration(tmp_path):
    text = """\
class Net(nn.Module):
    def __init__(self, inner=None):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner.encoder.fc(x) * self.inner.token
"""
    _, after, _ = mended(tmp_path, text)
    assert "self.inner_" not in after.read_text()


def test_what_another_file_names_is_held_by_the_class(tmp_path, monkeypatch):
    text = """\
from names_of_modes import MODE, EPS


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mode = "mean"

    def forward(self, x):
        return x + EPS if self.mode == MODE else x
"""
    (tmp_path / "names_of_modes.py").write_text('MODE: str = "mean"\nEPS = 1e-3\n')
    monkeypatch.syspath_prepend(tmp_path)
    before, after, done = mended(tmp_path, text)
    assert [f.message for f in done.report.findings if f.family == "script"] == []
    x = torch.rand(2, 3)
    assert torch.equal(torch.jit.script(made(after))(x), made(before)(x))
