"""What depends only on sizes that layers, checks and unpackings pin is the same for every input."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

IMPORTS = "import math\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n"


def verdict(tmp_path: Path, layers: str, forward: str) -> str:
    """The verdict on a module with these attributes and this forward of ``x``."""
    lines = [
        "class Net(nn.Module):",
        "    def __init__(self, width=64):",
        "        super().__init__()",
        *(f"        {line}" for line in layers.split("; ") if line),
        "",
        "    def forward(self, x):",
        textwrap.indent(textwrap.dedent(forward).strip(), "        "),
    ]
    path = tmp_path / "model.py"
    path.write_text(IMPORTS + "\n".join(lines) + "\n", encoding="utf-8")
    project = Project((tmp_path,))
    return judge(Program(project), find_target(project.module(path), "Net")).trace


PINNED = [
    ("", "n = x.shape[-1]\nm = torch.zeros(n, n)\nm[torch.triu_indices(n, n, 1).unbind()] = 1.0\nreturn x @ m"),
    ("self.rnn = nn.LSTM(4, 5, 2, bidirectional=True)", "_, (h, c) = self.rnn(x)\nreturn torch.cat(torch.unbind(h), dim=-1) * float(c.shape[-1])"),
    ("self.rnn = nn.GRU(4, 5, 2)", "packed = nn.utils.rnn.pack_sequence([x])\n_, h = self.rnn(packed)\nreturn torch.cat([row for row in h], dim=-1) * float(h.shape[-1])"),
    ("h, w = torch.meshgrid(torch.arange(4), torch.arange(4), indexing='ij'); self.register_buffer('pos', torch.cat((h.flatten()[:, None], w.flatten()[:, None]), dim=1).repeat(1, 4))", "y = x + self.pos\nside = int(math.sqrt(y.shape[-2]))\nreturn y.unflatten(-2, (side, side))"),
    ("one, two = torch.ones(16, 8).chunk(2); self.register_buffer('pos', one)", "y = x + self.pos\nreturn y * int(y.shape[-2] / 2)"),
    ("self.a = nn.Linear(8, 16)", "y = torch.atleast_1d(self.a(x))\nreturn y.clone() * 2"),
    ("", "n = x.shape[0]\nfirst = -n // 2\nrow = torch.arange(first, n + first)\nreturn x[-n:] if row.shape[0] > n else x"),
    ("self.e = nn.Embedding(9, 8)", "b, n = x.shape\ny = self.e(x)\ny = y.reshape((*y.shape[:1], -1, *y.shape[len(y.shape) - 1:]))\nreturn y * int(y.shape[2] / 2)"),
    ("self.e = nn.Embedding(9, 8)", "(y, *rest), spec = torch.utils._pytree.tree_flatten(self.e(x))\ny = torch.utils._pytree.tree_unflatten((y, *rest), spec)\nreturn y * int(y.shape[-1] / 2)"),
    ("self.conv = nn.Conv2d(3, 3, 3)", "n, k = x.shape[-1], self.conv.weight.shape[-1]\np = max(-(n // -1) - 1 + k - n, 0)\nreturn self.conv(F.pad(x, [p // 2, p - p // 2]))"),
    ("self.key = nn.Linear(8, 64)", "y = F.linear(x, self.key.weight)\nreturn y * int(y.shape[-1] / 2) * int(x.shape[-1] / 2)"),
    ("self.e = nn.Embedding(9, 8); self.p = nn.Parameter(torch.zeros(32, 8))", "b, n = x.shape\ny = self.e(x) + self.p[:n]\nreturn y if y[..., :4].numel() == 0 else y * 2"),
    ("self.conv = nn.Conv2d(3, 64, 3)", "c = self.conv(x).shape[1]\nreturn x * int(c / 4)"),
    ("self.conv = nn.Conv2d(3, width, 3)", "c = self.conv(x).shape[1]\nreturn x * int(c / 4)"),
    ("self.key = nn.Linear(8, 64)", "k = self.key(x)\nreturn k / math.sqrt(k.size(-1))"),
    ("self.conv = nn.Conv2d(64, 64, 1)", "n = x.shape[1]\nassert n % 4 == 0\nreturn self.conv(x) * (n if n > 3 else 1)"),
    ("self.key = nn.Linear(64, 8)", "scale = int(x.shape[-1]) ** -0.5\nreturn self.key(x) * scale"),
    ("self.qkv = nn.Linear(64, 192)", "b, n, c = x.shape\nq = self.qkv(x).reshape(b, n, 3, 4, c // 4).permute(2, 0, 3, 1, 4)\nfor part in q:\n    x = x + part.sum()\nreturn x * int(c / 4)"),
    ("self.a = nn.Linear(8, 16)", "y = torch.cat([self.a(x), self.a(x)], -1)\nreturn y * math.log(y.shape[-1])"),
    ("self.a = nn.Linear(8, 16)", "one, two = self.a(x).chunk(2, dim=-1)\nreturn one * float(two.shape[-1])"),
    ("self.a = nn.Linear(8, 16)", "y = self.a(x)\nreturn torch.cat([p * i for i, p in enumerate(y.split(4, -1))], -1)"),
    ("self.kernel = nn.Parameter(torch.zeros(8, 3, 3, 3))", "y = F.conv2d(x, self.kernel, padding=1)\nif y.shape[-2:] != x.shape[-2:]:\n    y = y[..., 1:, 1:]\nreturn y * int(y.shape[1] / 2) * int(x.shape[1] / 3)"),
    ("self.pool = nn.AdaptiveAvgPool2d(4)", "y = self.pool(x).flatten(2)\nreturn y * int(y.shape[2])"),
    ("self.pos = nn.Parameter(torch.zeros(1, 16, 8))", "y = x + self.pos\nreturn y * math.sqrt(y.shape[-2])"),
    ("self.emb = nn.Embedding(10, 8)", "return self.emb(x) * math.sqrt(self.emb(x).shape[-1])"),
    ("self.conv = nn.Conv2d(16, 16, 3)", "y = self.conv(x)\nx = F.interpolate(x, y.relu().shape[2:])\nreturn torch.stack(x.split(8, dim=1)).sum(0)"),
    ("self.rnn = nn.LSTM(8, 16, batch_first=True)", "y, _ = self.rnn(x)\nreturn y / math.sqrt(y.shape[-1])"),
    ("", "if x.shape[1] != 4:\n    raise ValueError('four')\nreturn x * int(x.shape[1])"),
    ("", "n = x.shape[-1]\nm = math.floor((n - 3) / 1) + 1\nreturn F.pad(x, (math.floor((n - m) / 2), int(n - m)))"),
    ("", "b, n, d = x.shape\nassert n == 16 and d == 8\nreturn x * int(n / d)"),
    ("", "y = x.view(-1, 4, 8)\nreturn y * len(y[0])"),
    ("self.conv = nn.Conv2d(3, 3, 3, padding=1)", "y = self.conv(x)\nif y.shape[-2:] != x.shape[-2:]:\n    y = y[..., 1:, 1:]\nreturn y + x"),
    ("self.conv = nn.Conv1d(3, 3, 3, padding=1)", "shape = x.shape\ny = self.conv(x.relu().reshape(shape))\npad = (x.shape[-1] - y.shape[-1]) // 2\nreturn y + (x[..., pad:-pad] if pad > 0 else x)"),
    ("self.q = nn.Linear(8, 64)", "q = self.q(x).view(*x.shape[:-1], -1, 16)\nreturn q / math.sqrt(q.shape[-1]) + int(q.shape[-2])"),
    ("self.q = nn.Linear(8, 64)", "shape = (*x.shape[:-1], -1, 16)\nq = self.q(x).view(shape)\nreturn q / math.sqrt(q.shape[-1]) + int(q.shape[-2])"),
    ("self.q = nn.Linear(8, 64)", "q = self.q(x)\nq = q.view(q.size()[:-1] + (4, 16)).transpose(-2, -3)\nreturn q / math.sqrt(q.size(-1))"),
    ("self.norm = nn.LayerNorm(8)", "n = min(x.shape[0], self.norm(x).shape[0])\nreturn x * max(n, 1)"),
    ("self.norm = nn.LayerNorm(8)", "y = self.norm(x)\nif y.shape != x.shape:\n    y = y[..., :4]\nreturn x + y"),
    ("self.a = nn.Conv2d(3, 3, 3, stride=2, padding=2); self.b = nn.Conv2d(3, 3, 1, stride=2, padding=1)", "a, b = self.a(x), self.b(x)[:, :, :-1, :-1]\nif a.shape[-2:] != b.shape[-2:]:\n    a = a[:, :, :-1, :-1]\nreturn a + b"),
    ("from unreadable import sides; self.conv = nn.Conv2d(3, 8, sides(16), sides(16))", "assert x.shape[-2:] == (224, 224)\nn = self.conv(x).flatten(2).shape[-1]\nreturn x * int(math.sqrt(n))"),
    ("self.conv = nn.Conv2d(3, 8, 16, 16); self.pos = nn.Parameter(torch.zeros(1, 8, 14, 14))", "y = self.conv(x)\nz = y + self.pos\nreturn z * int(y.shape[-1] / 2)"),
    ("", "b, c = x.shape\nn = x.view(-1, 4, 8).shape[0]\nm = x.view(-1, 32).shape[0]\nreturn x * (min(n, m) if n != m else 1)"),
    ("self.a = nn.Linear(8, 16)", "parts = self.a(x).chunk(4, dim=-1)\nreturn torch.cat([part * i for i, part in enumerate(parts)], -1)"),
    ("", "a, b, c = x.chunk(3)\nreturn a + b + c"),
    ("", "if x.dtype == torch.float16 and x.isinf().any():\n    x = x.clamp(-1, 1)\nreturn x * 2"),
    ("self.stack = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2)", "return self.stack(x + 1 if x.shape[-1] % 2 == 0 else x)"),
    ("", "n = x.shape[1]\nreturn x * 2 if n - (4 + n % n) % n > 0 else x"),
    ("", "n = x.shape[1]\npad = (4 - n % 4) % 4\nreturn x * 2 if pad >= 0 and n % 4 < 4 else x"),
    ("", "n = x.shape[1]\nwhole = n - n % 8\nreturn x * 2 if whole == n // 8 * 8 else x"),
    ("", "x = x.view(2, 8)\nfor i in torch.arange(x.shape[-1]):\n    x = x + 1 if i % 2 == 0 else x\nreturn x"),
    ("", "x = x.view(2, 8)\nmask = torch.ones(x.shape)\nreturn x * 2 if mask.sum() > 3 else x"),
    ("self.rope = nn.Linear(8, 16)", "y = torch.view_as_complex(self.rope(x).reshape(*x.shape[:-1], -1, 2)) * torch.polar(torch.ones(8), torch.ones(8))\ny = torch.view_as_real(y).flatten(-2)\nreturn y if y.shape[-1] == 16 else -y"),
    ("self.stack = nn.TransformerDecoder(decoder_layer=nn.TransformerDecoderLayer(8, 2), num_layers=2)", "return self.stack(x + 1 if x.shape[-1] % 2 == 0 else x, x)"),
]  # fmt: skip

OPEN = [
    ("", "n = x.shape[-1]\nreturn x.sum() + torch.stack([r * 1.0 for r in torch.triu_indices(n, n, 1).unbind(1)]).sum()"),
    ("self.rnn = nn.GRU(4, 5, 2)", "_, h = self.rnn(x)\nreturn h * float(h.shape[1])"),
    ("", "n = x.shape[0]\nfirst = -n // 2\nrow = torch.arange(first, n)\nreturn x[-n:] if row.shape[0] > 4 else x"),
    ("self.e = nn.Embedding(9, 8)", "b, n = x.shape\ny = self.e(x)\ny = y.reshape((*y.shape[:1], -1, *y.shape[len(y.shape) - 1:]))\nreturn y * int(y.shape[1] / 2)"),
    ("self.conv = nn.Conv2d(3, 64, 3)", "h = self.conv(x).shape[2]\nreturn x * int(h / 4)"),
    ("self.key = nn.Linear(8, 64)", "k = self.key(x)\nreturn k / math.sqrt(k.size(1))"),
    ("self.key = nn.Linear(8, 64)", "return x * int(x.shape[-2])"),
    ("self.key = nn.Linear(64, 8)", "if x.sum() > 0:\n    x = self.key(x)\nreturn x * int(x.shape[-1])"),
    ("self.a = nn.Linear(8, 16)", "y = torch.cat([self.a(x), self.a(x)], 1)\nreturn y * math.log(y.shape[1])"),
    ("self.pos = nn.Parameter(torch.zeros(1, 1, 8))", "y = x + self.pos\nreturn y * math.sqrt(y.shape[1])"),
    ("", "assert x.shape[1] % 4 == 0\nreturn x * int(x.shape[1])"),
    ("", "assert x.shape[1] == 4 or x.shape[2] == 4\nreturn x * int(x.shape[1])"),
    ("self.conv = nn.Conv2d(3, 3, 3, stride=2)", "y = self.conv(x)\nreturn y if y.shape[-1] == x.shape[-1] else y * 2"),
    ("self.q = nn.Linear(8, 64)", "q = self.q(x).view(*x.shape[:-1], -1, 16)\nreturn q * int(q.shape[-3])"),
    ("self.kernel = nn.Parameter(torch.zeros(8, 3, 3, 3))", "y = F.conv2d(x, self.kernel)\nreturn y * int(y.shape[2])"),
    ("", "return torch.cat([part * i for i, part in enumerate(x.chunk(4, dim=1))])"),
    ("", "return x * max(1, x.shape[0])"),
    ("self.pos = nn.Parameter(torch.zeros(1, 16, 8))", "y = x + self.pos\nreturn y * int(x.shape[1])"),
    ("", "return x * min(x.shape[0], x.shape[1])"),
    ("", "y = x.view(*x.shape[:-2], -1, 16)\nreturn y * int(y.shape[-2])"),
    ("self.a = nn.Conv2d(3, 3, 2, stride=2); self.b = nn.Conv2d(3, 3, 3, stride=2, padding=1)", "a, b = self.a(x), self.b(x)\nif a.shape[-1] != b.shape[-1]:\n    b = b[..., :-1]\nreturn a.mean(-2) + b.mean(-2)"),
    ("", "n = x.view(x.shape[0], -1).shape[1]\nreturn x * int(n)"),
    ("", "n = x.shape[1]\nreturn x * 2 if n % 4 < 3 else x"),
    ("", "n = x.shape[1]\nreturn x * 2 if n - n % 8 > 0 else x"),
    ("", "for i in torch.arange(x.shape[-1]):\n    x = x + 1 if i % 2 == 0 else x\nreturn x"),
    ("", "f = torch.fft.rfft(x)\nreturn f if f.shape[-1] > 5 else -f"),
    ("self.stack = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2)", "return self.stack(x + 1 if x.shape[0] % 2 == 0 else x)"),
]  # fmt: skip


@pytest.mark.parametrize(("layers", "forward"), PINNED)
def test_pinned_sizes_are_no_hazard(tmp_path: Path, layers: str, forward: str) -> None:
    assert verdict(tmp_path, layers, forward) == "safe"


@pytest.mark.parametrize(("layers", "forward"), OPEN)
def test_other_sizes_are(tmp_path: Path, layers: str, forward: str) -> None:
    assert verdict(tmp_path, layers, forward) == "hazardous"


def test_a_size_is_a_tensor_for_python_even_where_it_is_pinned(tmp_path: Path) -> None:
    layer = "self.conv = nn.Conv2d(3, 64, 3)"
    assert verdict(tmp_path, layer, "return x * round(self.conv(x).shape[1])") == "hazardous"
    assert verdict(tmp_path, layer, "return x * {64: 2}[self.conv(x).shape[1]]") == "hazardous"
