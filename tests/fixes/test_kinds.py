"""One kind of edit each, on code as people write it: torch takes the result, and eager does what it did."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tsguard.repairing.fixing import fix
from tsguard.settings.config import Settings
from tsguard.settings.requests import parse, plan

torch = pytest.importorskip("torch")

NORMED = """\
import torch.nn as nn
from torch.nn.utils import remove_weight_norm, weight_norm


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = weight_norm(nn.Conv1d(2, 3, 1))
        self.up = weight_norm(nn.ConvTranspose1d(3, 2, 2))

    def forward(self, x):
        return self.up(self.conv(x))

    def strip(self):
        remove_weight_norm(self.conv)
        remove_weight_norm(self.up)
"""
SPECTRAL = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.utils.spectral_norm(nn.Conv1d(2, 3, 1))

    def forward(self, x):
        return self.conv(x)
"""
TWO_RESULTS = """\
from torch import nn


class Net(nn.Module):
    def forward(self, x, need_square=False):
        if need_square:
            return x, x * x
        return x
"""
MAPPED = """\
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = 2

    def forward(self, x):
        b, c, h = *x.shape[:2], self.heads
        one, two = map(lambda t: t.reshape(b, h, -1) * 2, x.chunk(2, dim=-1))
        three, four = map(lambda t: t.reshape(b, h, -1) * 2, (x, x + 1))
        return one + two, three + four
"""


def load(path: Path, name: str):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def made(module):
    torch.manual_seed(0)
    return module.Net()


@pytest.fixture
def mended(tmp_path):
    """A module as it was written, and the same after the fixes of ``lint --unsafe-fixes``."""

    def mended(text: str):
        before, after = tmp_path / "before.py", tmp_path / "after.py"
        before.write_text(text)
        after.write_text(text)
        settings = Settings(root=tmp_path, jobs=1, cache=False)
        done = fix(plan([parse(f"{after}:Net", settings)], settings), settings, unsafe=True)
        assert [f.message for f in done.report.findings if f.family == "script"] == []
        return load(before, "before"), load(after, "after")

    return mended


@pytest.mark.parametrize("text", [NORMED, SPECTRAL], ids=["weight", "spectral"])
@pytest.mark.parametrize("training", [True, False])
def test_a_normed_layer_keeps_its_state_its_results_and_its_gradients(mended, text, training):
    before, after = map(made, mended(text))
    assert list(before.state_dict()) == list(after.state_dict())
    scripted = torch.jit.script(made_like(after).train(training))
    x = torch.randn(2, 2, 5)
    for _ in range(2):
        wanted = before.train(training)(x)
        for module in (after.train(training), scripted):
            torch.testing.assert_close(module(x), wanted)
    wanted.sum().backward()
    scripted(x).sum().backward()
    grads = [p.grad for p in before.parameters()]
    for ours, grad in zip(scripted.parameters(), grads, strict=True):
        assert ours.grad is not None
        assert ours.grad.shape == grad.shape


def made_like(module):
    torch.manual_seed(0)
    return type(module)()


def test_a_norm_can_still_be_removed(mended):
    before, after = map(made, mended(NORMED))
    before.strip()
    after.strip()
    assert list(before.state_dict()) == list(after.state_dict())
    x = torch.randn(2, 2, 5)
    torch.testing.assert_close(after(x), before(x))
    with pytest.raises(ValueError, match="not found"):
        after.strip()


def test_two_kinds_of_results_are_any(mended):
    _, after = mended(TWO_RESULTS)
    scripted = torch.jit.script(after.Net())
    x = torch.randn(3)
    assert torch.equal(scripted(x), x)
    assert torch.equal(scripted(x, True)[1], x * x)


def test_a_map_is_written_out(mended):
    before, after = mended(MAPPED)
    x = torch.randn(2, 4, 6)
    wanted, scripted = before.Net()(x), torch.jit.script(after.Net())(x)
    assert all(torch.equal(one, other) for one, other in zip(wanted, scripted, strict=True))


def test_what_an_operator_gives_stays_together(mended):
    text = "from torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return (1 - x).bool()\n"
    before, after = mended(text)
    x = torch.tensor([0.0, 1.0])
    assert torch.equal(torch.jit.script(after.Net())(x), before.Net()(x))


HELD = """\
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self, wide=False):
        super().__init__()
        self.offsets = np.array((0, 3, 5), dtype=np.int64)
        self.limit = None
        self.height, self.width = 2, 3
        if wide:
            self.shortcut = nn.Linear(6, 6)
        else:
            self.shortcut = lambda x: x

    def forward(self, x: torch.tensor):
        y = self.shortcut(x) + x.new_tensor(self.offsets).sum()
        if self.limit == 3:
            y = y * 0
        rows, columns = list(), list()
        for i in range(2):
            rows.append(i), columns.append(i + 1)
        y = F.interpolate(y, scale_factor=(self.height, self.width))
        return y[:, :, rows] + y[:, :, columns]
"""


def test_what_torchscript_cannot_hold_is_held_otherwise(mended):
    before, after = mended(HELD)
    x = torch.randn(1, 2, 3, 4)
    torch.testing.assert_close(torch.jit.script(after.Net())(x), before.Net()(x))


PAIRS = """\
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.ModuleList([nn.Linear(3, 4), nn.Linear(4, 3)]) for _ in range(2)])

    def forward(self, x):
        for up, down in self.layers:
            x = down(up(x).relu()) + x
        return x
"""


def test_pairs_of_modules_are_indexed(mended):
    before, after = map(made, mended(PAIRS))
    x = torch.randn(2, 3)
    torch.testing.assert_close(torch.jit.script(after)(x), before(x))


SOME = """\
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(3)])

    def forward(self, x):
        for i in range(1, len(self.layers)):  # the first comes last
            # one by one
            x = self.layers[i](x) * i
        for i in range(len(self.layers) - 1):
            x = self.layers[i](x)
        return self.layers[0](x)
"""


def test_some_of_the_modules_are_taken_in_a_loop_over_all(mended):
    before, after = map(made, mended(SOME))
    x = torch.randn(2, 3)
    torch.testing.assert_close(torch.jit.script(after)(x), before(x))


HARMLESS = """\
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, pair):
        x, other = pair
        for i in range(2):
            if i == 0:
                y = self.fc(x)
            y = self.fc(y + other)
        return y
"""


def test_a_guess_that_eager_would_not_survive_is_not_made(mended):
    before, after = map(made, mended(HARMLESS))
    pair = (torch.randn(2, 3), torch.randn(2, 3))
    wanted = before(pair)
    torch.testing.assert_close(after(pair), wanted)
    torch.testing.assert_close(torch.jit.script(after)(pair), wanted)


def test_an_import_that_may_fail_stays_where_it_is(tmp_path):
    path = tmp_path / "net.py"
    text = (
        "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n"
        "        if x.shape[0] > 8:\n            from xformers.ops import masked_matmul\n        return x\n"
    )
    path.write_text(text)
    settings = Settings(root=tmp_path, jobs=1, cache=False)
    fix(plan([parse(f"{path}:Net", settings)], settings), settings, unsafe=True)
    assert path.read_text() == text
    path.write_text(text.replace("xformers.ops import masked_matmul", "math import pi"))
    fix(plan([parse(f"{path}:Net", settings)], settings), settings, unsafe=True)
    assert path.read_text().startswith("import torch\nfrom math import pi\n")


SCRIPT_MODULE = """\
import torch
from torch import nn


class Net(torch.jit.ScriptModule):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    @torch.jit.script_method
    def forward(self, x):
        return self.doubled(self.fc(x))

    @torch.jit.script_method
    def doubled(self, x):
        return 2 * x


def make():
    return Net()
"""


def test_a_script_module_becomes_a_plain_one_that_is_scripted(tmp_path):
    before, after = tmp_path / "before.py", tmp_path / "after.py"
    before.write_text(SCRIPT_MODULE)
    after.write_text(SCRIPT_MODULE)
    settings = Settings(root=tmp_path, jobs=1, cache=False)
    fix(plan([parse(str(after), settings)], settings), settings, unsafe=True)
    text = after.read_text()
    assert "class Net(nn.Module)" in text
    assert "    @torch.jit.export\n    def doubled" in text
    x = torch.randn(2, 3)
    torch.manual_seed(0)
    one = load(before, "before").make()
    torch.manual_seed(0)
    other = load(after, "after").make()
    assert isinstance(other, torch.jit.ScriptModule)
    torch.testing.assert_close(other(x), one(x))
    torch.testing.assert_close(other.doubled(x), one.doubled(x))
