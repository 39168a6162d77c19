"""Forms that TorchScript lacks, in whole modules: lint is content after the fixes, torch agrees, and eager does as before."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tsguard.repairing.fixing import Fixed, fix
from tsguard.settings.config import Settings
from tsguard.settings.requests import parse, plan

torch = pytest.importorskip("torch")

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n\n"
PARENTS = """\
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 5)

    # what it does
    def forward(self, x, times: int = 2):
        \"""Text.\"""
        return self.fc(x) * times


class Middle(Base):
    def forward(self, x):
        x = super().forward(x)
        return x + 1


class Net(Middle):
    def forward(self, x):
        return super(Net, self).forward(x) + 1
"""
EMBEDDING = """\
class Rows(nn.Embedding):
    def forward(self, x):
        return super().forward(x) * 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = Rows(7, 5)

    def forward(self, x):
        return self.rows(x.long())
"""
PADS = """\
class Net(nn.Module):
    def forward(self, x):
        if x.dim() == 3:
            pad = (1, 1, 2, 1)
        else:
            pad = (1, 1)
        return F.pad(x, pad)
"""
COMPLEMENTS = """\
class Net(nn.Module):
    def forward(self, x, positive=True):
        if positive:
            y = x + 1
        if not positive:
            y = x - 1
        return y
"""
LEFT_FIRST = """\
class Net(nn.Module):
    def forward(self, x, wanted: bool = False):
        if wanted:
            y, z = x * 2, x * 3
        x = x + 1
        if not wanted:
            return x
        return x + y - z
"""
SUM = """\
class Net(nn.Module):
    def forward(self, x):
        return sum(F.l1_loss(a, b) for a, b in zip(x.chunk(2), x.chunk(2)))
"""
SIZES = """\
class Net(nn.Module):
    def forward(self, x):
        mask = x.new_ones((x.shape[0], *(1,) * (x.ndim - 1)))
        first, *rest = x.shape
        return (x * mask).view((first, 1, *x.shape[1:])).view([first, 1] + rest)
"""
ALIAS = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        norm = nn.utils.spectral_norm
        self.conv = norm(nn.Conv1d(4, 3, 1, bias=False))

    def forward(self, x):
        return self.conv(x)
"""
UPSAMPLE = """\
class Net(nn.Module):
    def forward(self, x):
        return nn.Upsample((x.shape[2] * 2,), mode="linear", align_corners=True)(x)
"""
SLICE = """\
class Net(nn.Module):
    def forward(self, x):
        sizes = list(x.shape)
        sizes[1:] = [1] * (len(sizes) - 1)
        return x * x.new_ones(sizes)
"""
CLOSURES = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = 2
        self.out = nn.Linear(5, 5)

    def forward(self, x):
        b, n, c = x.shape
        h = self.heads

        def split(t):
            # into heads
            return t.view(b, h, n // h, c)

        def joined(t, scale: float = 1.0):
            return self.out(split(t).reshape(b, n, c)) * scale

        return joined(x * 2, scale=2.0) + joined(x)
"""
LAYER_VARIABLE = """\
def smooth(x, y):
    log_softmax = nn.LogSoftmax(dim=1)
    return -(log_softmax(x) * y).sum(), -(y * log_softmax(x + 1)).mean()


class Net(nn.Module):
    def forward(self, x):
        return smooth(x, x)
"""
BATCH_NORM = """\
class Shifted(nn.BatchNorm1d):
    def forward(self, x):
        return super().forward(x) + 0.5


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = Shifted(4)

    def forward(self, x):
        return self.norm(x)
"""
SETTLED = """\
class Net(nn.Module):
    def __init__(self, width=5, out=5):
        super().__init__()
        self.same = width == out
        self.short = not self.same and nn.Linear(width, out) or None
        self.late = False

    def forward(self, x):
        if not self.same and self.late == True:
            x = torch.relu(x)
        else:
            out = torch.relu(x)
        out = torch.tanh(out if self.same else x)
        return (x if self.same else self.short(x)) + out
"""
OFF = """\
class Base(nn.Module):
    normed: bool

    def __init__(self, normed=False):
        super().__init__()
        self.normed = normed
        self.layers = nn.ModuleList([nn.Linear(5, 5), nn.Linear(5, 5)])
        self.norms = nn.ModuleList([nn.LayerNorm(5)] * 2 if normed else [])


class Net(Base):
    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = layer(x)
            if self.normed:
                x = self.norms[i](x)
        return x
"""
MASKED = """\
class Net(nn.Linear):
    def __init__(self):
        super().__init__(5, 3)
        self.register_buffer("mask", torch.ones(3, 5).tril())

    def forward(self, x):
        self.weight.data *= self.mask
        noise = x.new_zeros(x.shape, requires_grad=False)
        self.pooled = x.mean(0)
        if torch.is_tensor(x):
            x = x + noise
        return F.linear(x, self.weight, self.bias), self.pooled
"""
CHOSEN = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList([nn.Linear(5, 5), nn.Linear(5, 5)])
        self.named = nn.ModuleDict({"a": nn.Linear(5, 5), "b": nn.Linear(5, 5)})
        self.order = [1, 0]
        self.names = ["b", "a"]

    def forward(self, x):
        for i in self.order:
            # one by one
            x = self.heads[i](x) + self.heads[i - 1](x)
        for name in self.names:
            x = self.named[name](x)
        return x
"""
PAIR = """\
def grouped(x, full=False):
    if full:
        return x, x + 1, x + 2
    return x, x + 1


class Net(nn.Module):
    def forward(self, x):
        one, two = grouped(x)
        return one * two
"""
FORMS = {
    "closures": CLOSURES,
    "layer-variable": LAYER_VARIABLE,
    "batch-norm": BATCH_NORM,
    "settled": SETTLED,
    "off": OFF,
    "masked": MASKED,
    "pair": PAIR,
    "chosen": CHOSEN,
    "slice": SLICE,
    "parents": PARENTS,
    "embedding": EMBEDDING,
    "pads": PADS,
    "complements": COMPLEMENTS,
    "left first": LEFT_FIRST,
    "sum": SUM,
    "sizes": SIZES,
    "alias": ALIAS,
    "upsample": UPSAMPLE,
}


def loaded(path: Path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def made(path: Path):
    module = loaded(path)
    torch.manual_seed(0)
    return module.Net().eval()


def used(path: Path):
    """What eager gives of a file: by what the file itself does with its module, or of one call; and the module's state."""
    module = loaded(path)
    torch.manual_seed(0)
    net = module.Net()
    return list(net.state_dict()), module.use(net) if hasattr(module, "use") else net(torch.rand(2, 5))


def mended(tmp_path: Path, text: str, start: str = "") -> tuple[Path, Path, Fixed]:
    """A file as it was and as the fixes leave it, and what is found then."""
    before, after = tmp_path / "before.py", tmp_path / "after.py"
    for path in (before, after):
        path.write_text(start + HEAD + text)
    settings = Settings(root=tmp_path, jobs=1, cache=False)
    done = fix(plan([parse(f"{after}:Net", settings)], settings), settings, unsafe=True)
    return before, after, done


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_a_form_is_written_otherwise(tmp_path, text):
    before, after, done = mended(tmp_path, text)
    assert [f.message for f in done.report.findings if f.family == "script"] == []
    one, other = made(before), made(after)
    assert list(one.state_dict()) == list(other.state_dict())
    x = torch.rand(2, 4, 5)
    for module in (other, torch.jit.script(other)):
        torch.testing.assert_close(module(x), one(x))


def test_tests_of_what_changes_between_them_stay_two(tmp_path):
    path = tmp_path / "net.py"
    path.write_text(HEAD + COMPLEMENTS.replace("y = x + 1", "y, positive = x + 1, False"))
    settings = Settings(root=tmp_path, jobs=1, cache=False)
    fix(plan([parse(f"{path}:Net", settings)], settings), settings, unsafe=True)
    assert "if not positive:" in path.read_text()


LISTS = """\
class Net(nn.Module):
    def forward(self, x):
        is_list = isinstance(x, tuple) or isinstance(x, list)
        if is_list:
            batch = x[0].shape[0]
            x = torch.cat(x, dim=0)
        x = x * 2
        if is_list:
            x = torch.split(x, [batch, batch], dim=0)
        return x
"""


def test_what_takes_lists_stays_with_python(tmp_path):
    path = tmp_path / "net.py"
    path.write_text(HEAD + LISTS)
    settings = Settings(root=tmp_path, jobs=1, cache=False)
    fix(plan([parse(f"{path}:Net", settings)], settings), settings, unsafe=True)
    module, x = made(path), torch.rand(2, 3)
    assert torch.equal(torch.jit.script(module)(x), x * 2)
    assert torch.equal(torch.cat(module([x, x])), torch.cat([x, x]) * 2)


GUARDED = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(5, 5)

    def forward(self, x):
        if x.size(0) > 1:
            self.rnn.flatten_parameters()
        return self.rnn(x)[0]
"""


def test_new_blocks_are_indented_as_the_others(tmp_path):
    path = tmp_path / "net.py"
    path.write_text(HEAD + GUARDED)
    settings = Settings(root=tmp_path, jobs=1, cache=False)
    fix(plan([parse(f"{path}:Net", settings)], settings), settings, unsafe=True)
    guard = "            if not torch.jit.is_scripting():\n                self.rnn.flatten_parameters()\n"
    assert guard in path.read_text()


MOVED = """\
class Net(nn.Module):
    def forward(self, x):
        y = x + 1
        # where there is much
        if x.sum() > 0 and y.min() > 0:
            x = x * 2
            y = torch.relu(y)
        elif bool((x > -9).all()):
            y = -y
        return x + y
"""


def test_a_branch_that_data_decides_moves_into_a_scripted_function(tmp_path):
    before, after, done = mended(tmp_path, MOVED)
    assert [f.message for f in done.report.findings if f.severity == "error"] == []
    assert "@torch.jit.script_if_tracing\ndef choose_x(" in after.read_text()
    assert "        # where there is much\n" in after.read_text()
    examples = [torch.ones(3), -torch.ones(3), torch.tensor([-10.0, 1.0, 2.0])]
    for example in examples:
        traced = torch.jit.trace(made(after), (example,), check_trace=False)
        for x in examples:
            assert torch.equal(made(after)(x), made(before)(x))
            assert torch.equal(traced(x), made(before)(x))


KEPT = {
    "arrays": """\
import numpy as np


class Net(nn.Module):
    def forward(self, x):
        areas = np.array([1.0, 4.0])
        return x * float(np.sqrt(areas).sum())
""",
    "arrays of a call": """\
import numpy as np


class Net(nn.Module):
    def forward(self, x):
        return x * float(np.exp(np.arange(3)).sum())
""",
    "the lesser of two numbers": """\
def lesser(one, other):
    return min(one, other)


class Net(nn.Module):
    def forward(self, x):
        return x * lesser(x.shape[0] * 0.5, 2)
""",
    "what is used behind a return": """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = 1

    def forward(self, x, wanted=False):
        if wanted:
            y = x * 2
        if self.heads > 1:
            return x
        with torch.no_grad():
            z = x + 1
        if not wanted:
            return z
        return z, y
""",
    "a loop over modules of which some give pairs": """\
class Pair(nn.Module):
    def forward(self, x):
        return x, x


class Steps(nn.Sequential):
    def forward(self, x):
        total = torch.zeros(3)
        for module in self:
            x, y = module(x)
            total = total + y
        return x + total


class Other(nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = Steps(nn.Identity())

    def forward(self, x):
        return self.steps(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = Steps(Pair())

    def forward(self, x):
        return self.steps(x)
""",
    "all arguments": """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, *args, **kwargs):
        return self.weight * 2
""",
}


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_eager_takes_what_it_took_after_the_fixes(tmp_path, text):
    before, after, _ = mended(tmp_path, text)
    x = torch.rand(3)
    assert torch.equal(made(before)(x), made(after)(x))
