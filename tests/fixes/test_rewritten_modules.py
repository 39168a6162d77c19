"""Modules of users' kinds: after the fixes lint is content, torch scripts them, and eager does as before, with the same state."""

from __future__ import annotations

import pytest

from tests.fixes.test_forms import made, mended

torch = pytest.importorskip("torch")

STAGES = """\
class Net(nn.Module):
    def __init__(self, depth=3):
        super().__init__()
        self.depth = depth
        for i in range(depth):
            setattr(self, "stage%d" % i, nn.Linear(5, 5))

    def forward(self, x):
        for i in range(self.depth):
            stage = getattr(self, "stage%d" % i)
            x = stage(x)
        return x
"""
WRITTEN_STAGES = """\
class Net(nn.Module):
    def __init__(self, deep=True):
        super().__init__()
        self.block2 = nn.Bilinear(5, 5, 5)
        self.block3 = nn.Bilinear(5, 5, 5)
        if deep:
            self.block4 = nn.Bilinear(5, 5, 5)
        self.fc = nn.Linear(5, 2)

    def forward(self, x):
        y = x
        for i in range(2, 5):
            y = getattr(self, "block{:d}".format(i))(x, y)
        return self.fc(y)
"""
NAMES = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.names = ["first", "second"]
        for name in self.names:
            self.add_module(name, nn.Linear(5, 5))

    def forward(self, x):
        found = []
        for name in self.names:
            found.append(getattr(self, name)(x))
        return torch.stack(found)
"""
POOLING = """\
class Pooling(nn.Sequential):
    def __init__(self, n):
        super(Pooling, self).__init__(nn.AdaptiveAvgPool1d(1), nn.Conv1d(n, n, 1), nn.ReLU())

    def forward(self, x):
        size = x.shape[-1:]
        x = super(Pooling, self).forward(x)  # pooled
        return F.interpolate(x, size=size, mode="linear", align_corners=False)


class Dense(nn.Sequential):
    def forward(self, x):
        return torch.cat([x, super().forward(x)], 1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool, self.dense = Pooling(4), Dense(nn.Linear(5, 5), nn.ReLU())

    def forward(self, x):
        return self.dense(self.pool(x))
"""
POOL = """\
class Net(nn.MaxPool1d):
    def __init__(self):
        super().__init__(2)

    def forward(self, x):
        return super().forward(x) + 1
"""
WHOLE_NORM = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.utils.weight_norm(nn.Linear(5, 3), dim=None)

    def forward(self, x):
        return self.fc(x)
"""
LIMITS = """\
class Net(nn.Module):
    def forward(self, x):
        scores = x.masked_fill(x > 0.5, -torch.finfo(x.dtype).max)
        return scores.clamp(min=torch.finfo(x.dtype).min, max=torch.finfo(x.dtype).max).softmax(-1)
"""
DEVICES = """\
class Net(nn.Module):
    def __init__(self, gpu_ids=[]):
        super().__init__()
        self.gpu_ids = gpu_ids
        self.model = nn.Linear(5, 5)

    def forward(self, x):
        if self.gpu_ids and isinstance(x.data, torch.cuda.FloatTensor):
            return nn.parallel.data_parallel(self.model, x, self.gpu_ids)
        else:
            return self.model(x)
"""
ARRAYS = """\
import numpy as np


class Net(nn.Module):
    def __init__(self, n=5):
        super().__init__()
        self.n = n

    def forward(self, x):
        if isinstance(x, np.ndarray):
            x = torch.from_numpy(x)
        one = torch.from_numpy(np.eye(self.n).flatten().astype(np.float32)).view(self.n, self.n)
        row = torch.from_numpy(np.array([1, 0, -2, 0, 1.5]).astype(np.float32))
        zeros = torch.from_numpy(np.zeros((4, 5), dtype=np.float32))
        filled = torch.Tensor(x.size(1), self.n).fill_(2)
        return x @ one + row + zeros + filled
"""
PADDED = """\
class Net(nn.Module):
    def forward(self, x):
        small = x[..., :2]
        missing = torch.tensor([x.size()[2] - small.size()[2]])
        return x + F.pad(small, [missing // 2, missing - missing // 2, 0, 0])
"""
FROZEN = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.places = torch.ones(4, 5)

    def forward(self, x):
        return x + nn.Parameter(self.places, requires_grad=False)
"""
TYPES = """\
from typing import Sequence

from torch.autograd import Variable


class Net(nn.Module):
    def pick(self, xs: Sequence[Variable], size: torch.Size) -> object:
        return xs[0].view(size)

    def forward(self, x: Variable, mask: "torch.Tensor | None" = None) -> Variable:
        return self.pick([x, x], x.shape)
"""
CHILDREN = """\
from collections import namedtuple


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(5, 5), nn.ReLU(), nn.Linear(5, 5))
        self.block1 = nn.Linear(5, 5)
        self.block2 = nn.Linear(5, 5)

    def forward(self, x):
        kept = []
        for i, (_, layer) in enumerate(self.layers._modules.items(), 1):
            x = layer(x)
            if i in (1, 3):
                kept.append(x)
        for i in range(1, 3):
            x = self.__getattr__("block{}".format(i))(x)
        for i in range(1, 3):
            x = self._modules["block" + str(i)](x)
        outputs = namedtuple("Outputs", ["first", "last"])
        return outputs(kept[0], x)
"""
CHOSEN_NORM = """\
from torch.nn.utils import spectral_norm, weight_norm as normed


class Net(nn.Module):
    def __init__(self, spectral=False):
        super().__init__()
        norm = normed if spectral == False else spectral_norm
        self.convs = nn.ModuleList([norm(nn.Conv1d(4, 4, 3, 1, padding=1)), norm(nn.Conv1d(4, 4, 1))])

    def forward(self, x):
        for conv in self.convs:
            x = conv(x)
        return x
"""
PROCESSES = """\
import torch.distributed as dist


class Net(nn.Module):
    def forward(self, x):
        total = x.sum()
        # of all processes
        if dist.is_available() and dist.is_initialized():
            dist.all_reduce(total)
        return torch.spmm(x[0], x[1].t()) / total
"""
REVERSED = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList([nn.Linear(5, 5) for _ in range(3)])
        self.up = nn.ModuleList([nn.Linear(5, 5) for _ in range(3)])

    def forward(self, x):
        skips = []
        for down in self.down:
            x = down(x)
            skips.append(x)
        for up, skip in zip(self.up, skips[::-1]):
            x = up(x) + skip
        return x
"""
SYNCHRONISED = """\
class Master:
    def run(self, *message):
        return message


class Net(nn.BatchNorm1d):
    def __init__(self, n=4):
        super().__init__(n)
        self.master = Master()
        self.is_parallel = False
        self.pipe = None

    def forward(self, x):
        if not (self.is_parallel and self.training):
            return F.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias)
        mean = self.pipe.run(x.mean())
        return x - self.master.run(mean)

    def __data_parallel_replicate__(self, context, number):
        self.is_parallel = True
"""
STATES = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(5, 3, batch_first=True)

    def forward(self, x, state=None):
        if state is None:
            zeros = x.new_zeros(1, x.size(0), 3)
            state = (zeros, zeros)
        x, (h, c) = self.rnn(x, state)
        return x, h
"""
HELPERS = """\
from typing import Optional


def exists(value):
    return value is not None


def default(value, other):
    return value if exists(value) else other


class Net(nn.Module):
    def forward(self, x, size: Optional[int] = None, scale: Optional[float] = None):
        size = default(size, x.shape[-1])
        return x[..., :size] * default(scale, 0.5)
"""
CELLS = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cells = nn.ModuleList([nn.GRUCell(5, 5) for _ in range(2)])

    def forward(self, x, hidden=None):
        if hidden is None:
            hidden = [x.new_zeros(x.size(1), 5) for _ in range(2)]
        found = {}
        for i in range(len(self.cells)):
            hidden[i] = self.cells[i](x[i], hidden[i])
            found[str(i)] = hidden[i]
        return sum(found.values())
"""
SETTINGS = """\
SCALES = [2, 4, 8]


class Net(nn.Module):
    def __init__(self, doubled=True):
        super().__init__()
        self.options = {"scale": 2.0, "name": "net"}
        self.first, self.second = nn.Linear(5, 5), nn.Linear(5, 5)
        self.doubled = doubled

    def forward(self, x, params=None):
        layer = self.first if self.doubled else self.second
        if params is not None:
            x = x * params["scale"]
        for scale in SCALES:
            x = layer(x) * scale
        return x * self.options["scale"]
"""
SLICES = """\
from functools import partial


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = partial(F.leaky_relu, negative_slope=0.2)
        self.blocks = nn.ModuleList([nn.Linear(5, 5), nn.Linear(5, 5), nn.Linear(5, 5)])

    def forward(self, x, params=None):
        for block in self.blocks[:-1]:
            # all but the last
            x = self.act(block(x))
        if params is not None:
            scale = params.get("scale", None)
            if scale is not None:
                x = x * scale
        return self.blocks[-1](x)
"""
SIZE_OR_NONE = """\
def default(value, other):
    return other if value is None else value


class Net(nn.Module):
    def forward(self, x, size=None):
        size = default(size, x.shape[-1] - 1)
        return x[..., :size]
"""
ASKED = """\
def exists(value):
    return value is not None


def absent(value):
    \"""Whether there is none.\"""
    return value is None


class Net(nn.Module):
    def __init__(self, gated=True, rotary=None):
        super().__init__()
        self.gate = nn.Linear(5, 5) if gated else None
        self.rotary = rotary

    def forward(self, x, mask=None):
        if exists(self.rotary):
            x = self.rotary.rotate(x)
        found = exists(mask) == exists(self.gate)
        if absent(mask) and not absent(self.gate) and not found:
            x = self.gate(x)
        if exists(mask):
            x = x.masked_fill(mask, 0.0)
        return x
"""
OPTIONS = """\
class Net(nn.Module):
    def forward(self, x):
        # along which
        along = dict(dim=-1)
        resized = {"scale_factor": 2.0,
                   "mode": "nearest"}
        x = F.normalize(x, **along).softmax(along["dim"])
        return F.interpolate(x, **resized)
"""
NOISE = """\
class Net(nn.Module):
    def forward(self, x):
        return x + torch.zeros_like(x).uniform_(0, to=1) * 0
"""
AUTOCAST = """\
from torch.amp import autocast


def helper(x):
    return x * 2


class Net(nn.Module):
    @autocast("cuda", enabled=False)
    def forward(self, x):
        return helper(x)
"""
LEFT_OUT = """\
def given(value):
    return value is not None


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.base = None
        self.scaled = given(self.base) and bool(self.training)

    def forward(self, x):
        if not self.scaled:
            return x
        return (x - 2) / self.base
"""
KERNELS = """\
from torch.nn.attention import SDPBackend, sdpa_kernel


class Net(nn.Module):
    def forward(self, x):
        # exactly
        with sdpa_kernel([SDPBackend.MATH]):
            x = F.scaled_dot_product_attention(x, x, x)
        return x
"""
FORMS = {
    "a choice of kernels": KERNELS,
    "a flag above what is None": LEFT_OUT,
    "a helper that asks for None": ASKED,
    "options in a dict": OPTIONS,
    "bounds of noise": NOISE,
    "a decorator of precision": AUTOCAST,
    "a size that may be None": SIZE_OR_NONE,
    "slices and partials": SLICES,
    "states in a list": CELLS,
    "settings": SETTINGS,
    "what synchronises processes": SYNCHRONISED,
    "states that may be None": STATES,
    "helpers for any type": HELPERS,
    "submodules as Python holds them": CHILDREN,
    "a norm that is chosen": CHOSEN_NORM,
    "what processes do together": PROCESSES,
    "a list that is turned round": REVERSED,
    "submodules by a computed name": STAGES,
    "submodules that are written in the class": WRITTEN_STAGES,
    "submodules by names in a list": NAMES,
    "what a parent that is a Sequential does": POOLING,
    "what a pool does": POOL,
    "a norm of the whole weight": WHOLE_NORM,
    "limits of a dtype": LIMITS,
    "what runs on several devices": DEVICES,
    "arrays that are constants": ARRAYS,
    "paddings that are Tensors": PADDED,
    "a Parameter that is not learned": FROZEN,
    "types by other names": TYPES,
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_a_module_is_mended(tmp_path, text):
    before, after, done = mended(tmp_path, text)
    assert [f.message for f in done.report.findings if f.family == "script"] == []
    torch.manual_seed(0)
    one = made(before)
    torch.manual_seed(0)
    other = made(after)
    assert list(one.state_dict()) == list(other.state_dict())
    x = torch.rand(2, 4, 5)
    for module in (other, torch.jit.script(other)):
        torch.testing.assert_close(module(x), one(x))


def test_where_annotations_are_text_constants_are_listed(tmp_path):
    text = """\
LIMIT = 0.5


class Net(nn.Module):
    scale = 2

    def __init__(self):
        super().__init__()
        self.base = None
        self.scaled = False

    def forward(self, x):
        if not self.scaled:
            return x.clamp(max=LIMIT) * self.scale
        return (x - 2) / self.base
"""
    before, after, done = mended(tmp_path, text, "from __future__ import annotations\n\n")
    assert [f.message for f in done.report.findings if f.family == "script"] == []
    assert done.report.errors == ()
    assert "Final" not in after.read_text()
    x = torch.rand(2, 3)
    assert torch.equal(torch.jit.script(made(after))(x), made(before)(x))


def test_bounds_of_normal_are_written_as_floats(tmp_path):
    text = """\
class Net(nn.Module):
    def forward(self, x):
        return x + torch.normal(0, std=1, size=x.shape)
"""
    before, after, _ = mended(tmp_path, text)
    x, found = torch.rand(2, 3), []
    for module in (made(before), made(after), torch.jit.script(made(after))):
        torch.manual_seed(0)
        found.append(module(x))
    assert torch.equal(found[0], found[1])
    assert torch.equal(found[0], found[2])
