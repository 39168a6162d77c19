"""Small functions and modules of which the verdict is what torch shows: traced, and held against eager on other inputs."""

from __future__ import annotations

import textwrap
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.judges.test_trace_consequences import verdict
from tests.rules.on_torch import load

HEADER = """\
import collections.abc
import math
import numbers

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def repeated(x, times):
    for _ in range(times):
        x = x + 1
    return x


def pair(n):
    return n if isinstance(n, collections.abc.Iterable) else (n, n)


"""
ROWS, IMAGES, MAPS = (2, 4, 8), (2, 3, 8, 8), (2, 1, 8)
# By what they are about: the sizes of the example, then bodies of ``f(x)``.
FUNCTIONS: dict[str, tuple[tuple[int, ...], tuple[str, ...]]] = {
    "the dimensions that squeeze leaves": (
        MAPS,
        (
            "y = x.squeeze(); return y.unsqueeze(0) if y.dim() == 1 else y",
            "y = torch.squeeze(x); return y[None] if len(y.shape) < 2 else y",
            "y = x.squeeze(0); return y[None] if y.ndim == 2 else y",
            "y = x.squeeze(); return y.sum(dim=list(range(1, y.dim())))",
            "y = x.squeeze(); return y.view(*y.shape, 1)",
            "y = x.squeeze(); return y.expand(3, *y.shape)",
            "y = x.squeeze(); return y.repeat(2, *([1] * (y.ndim - 1)))",
            "y = x.squeeze(); return torch.zeros(y.shape) + y",
            "y = x.squeeze(); return y * 2",
            "y = x.squeeze(); return y.reshape(y.size(0), -1)",
            "y = x.squeeze(); n, m = y.shape; return y.view(n * m) if y.dim() == 2 else y",
            "y = x.squeeze(); assert y.ndim == 2; return y * 2",
            "m = x.mean().squeeze(); return x - m if m.dim() == 0 else x",
            "y = x.mean((1, 2), keepdim=True).squeeze((1, 2)); return y * 2",
        ),
    ),
    "what a size is": (
        ROWS,
        (
            "return x * 2 if type(x.size(1)) is int else x",
            "return x * 2 if type(x.size(1)) in (int, float) else x * 3",
            "return x * 2 if type(x.size(1)) is type(x.size(2)) else x",
            "return x / x.size(1) if isinstance(x.size(1), numbers.Number) else x",
            "n = x.size(1); n = n.shape[0] if hasattr(n, 'shape') else n; return x * n",
            "return x * 2 if hasattr(x.size(1), 'no_such_thing') else x",
            "return F.adaptive_avg_pool1d(x, pair(x.size(2) // 2)[0])",
            "n = x.size(1)\nif not isinstance(n, torch.Tensor):\n    n = torch.tensor(n)\nreturn x / n",
            "n = x.size(1)\nif torch.is_tensor(n):\n    n = n.float()\nreturn x / n",
            "return x * 2 if x.size(1) in {4, 8} else x",
        ),
    ),
    "powers and truths of sizes": (
        ROWS,
        (
            "return x * 2 ** -x.size(1)",
            "return x * 10 ** (2 - x.size(1))",
            "return x * 2.0 ** -x.size(1) + 2 ** x.size(1) + x.size(1) ** 2",
            "return x * ((x.size(1) > 4) + (x.size(2) > 4))",
            "return x * sum([x.size(1) > 4, x.size(2) > 4])",
            "return x * (1 - (x.size(1) > 4))",
            "return x * (x.size(2) + (x.size(1) > 4))",
        ),
    ),
    "layers that are made of sizes": (
        IMAGES,
        (
            "return nn.MaxPool2d(x.size(2))(x)",
            "return nn.MaxPool2d((x.size(2), x.size(3)))(x)",
            "return nn.AvgPool2d(x.size(2))(x)",
            "return nn.AdaptiveAvgPool2d(x.size(2) // 2)(x)",
            "return nn.AdaptiveAvgPool2d((x.size(2) // 2, 1))(x)",
            "return nn.ReplicationPad2d(x.size(3) // 2)(x)",
            "return nn.ZeroPad2d((x.size(3), 0, 0, 0))(x)",
            "return nn.Upsample(size=x.size(3) * 2)(x)",
            "return nn.Upsample(scale_factor=x.size(3))(x)",
            "return nn.Unflatten(2, (x.size(2), x.size(3)))(x.flatten(2))",
            "return nn.LayerNorm(x.shape[1:], elementwise_affine=False)(x)",
            "return nn.GroupNorm(x.size(1), x.size(1), affine=False)(x)",
            "return nn.Linear(x.size(3), 2)(x)",
            "return nn.Softmax(x.dim() - 1)(x)",
        ),
    ),
    "sizes that are one number for all": (
        ROWS,
        (
            "y = x.mean(1, keepdim=True); return y * 2 if y.shape[1] == 1 else x",
            "y = x.unsqueeze(1); return y * 2 if y.shape[1] == 1 else x",
            "y, _ = x.topk(3, 1); return repeated(y, y.shape[1])",
            "y = x[:, [0, 2, 3]]; return repeated(y, y.shape[1])",
            "y = torch.cat([x, x], 1); return y * 2 if y.shape[1] % 2 == 0 else y",
            "y = torch.stack([x, x, x], 1); return repeated(y, y.shape[1])",
            "y = torch.stack([x, x, x], 1); return repeated(y, y.shape[2])",
            "y = x[:, 1:]; return repeated(y, y.shape[1])",
            "y = torch.cat([x, x[:, :1]], 1); return repeated(y, y.shape[1])",
        ),
    ),
    "a view of another dtype": (ROWS, ("return x.view(torch.int32)", "return x.view(x.shape)")),
}
MODULES = {
    "a number that the layer after it lets be one only": (
        IMAGES,
        "self.layer, self.last = nn.Conv2d(3, 4, 7), nn.Linear(16, 5)",
        "x = self.layer(x)\nreturn self.last(x.view(-1, int(np.prod(x.size()[1:]))))",
    ),
    "a product of sizes that the layer after it lets be one only": (
        IMAGES,
        "self.layer, self.last = nn.Conv2d(3, 4, 7), nn.Linear(16, 5)",
        "x = self.layer(x)\nreturn self.last(x.view(x.size(0), int(x.size(1) * x.size(2) * x.size(3))))",
    ),
    "a length that the layer after it lets be one only": (
        (2, 16),
        "self.last = nn.Linear(16, 5)",
        "return self.last(x.view(-1, len(x[0])))",
    ),
    "a number that nothing after it tells": (
        IMAGES,
        "self.layer, self.last = nn.Conv2d(3, 4, 7), nn.Linear(4, 5)",
        "x = self.layer(x)\nreturn self.last(x.mean((2, 3))) * int(np.prod(x.size()[1:]))",
    ),
    "squeezed features of a batch": (
        IMAGES,
        "self.layer, self.last = nn.AdaptiveAvgPool2d(1), nn.Linear(3, 5)",
        "return self.last(self.layer(x).squeeze())",
    ),
    "squeezed features of a batch whose rank is asked": (
        IMAGES,
        "self.layer, self.last = nn.AdaptiveAvgPool2d(1), nn.Linear(3, 5)",
        "y = self.layer(x).squeeze()\nreturn self.last(y if len(y.size()) > 1 else y[None])",
    ),
    "the causal mask of a transformer": (
        ROWS,
        "self.layer = nn.Transformer(8, 2, 1, 1, 8)",
        "return x @ x.transpose(1, 2) + self.layer.generate_square_subsequent_mask(x.size(1))",
    ),
    "a leaf that the call has made": (
        ROWS,
        "pass",
        "self.kept = torch.zeros(8)\nself.kept.requires_grad = True\nreturn x * 2 + self.kept",
    ),
    "a leaf that was there before": (
        ROWS,
        "self.kept = torch.zeros(8)",
        "self.kept.requires_grad = True\nreturn x * 2 + self.kept",
    ),
    "a size among the numbers of a set": (
        ROWS,
        "self.known = {4, 8}",
        "return x * 2 if x.size(1) in self.known else x",
    ),
    "a size among the numbers of a dict": (
        ROWS,
        "self.known = {4: 1.0, 8: 2.0}",
        "return x * 2 if x.size(1) in self.known else x",
    ),
    "a size among those that calls have left": (
        ROWS,
        "self.known = {}",
        "n = x.size(1)\nif n not in self.known:\n    self.known[n] = torch.arange(n)\nreturn x * self.known[n][:, None]",
    ),
}
CASES = {
    **{
        f"{about}: {body}": (sizes, "", body)
        for about, (sizes, bodies) in FUNCTIONS.items()
        for body in bodies
    },
    **MODULES,
}


def source_of(case: str) -> str:
    _, made, body = CASES[case]
    lines = textwrap.indent(body.replace("; ", "\n"), " " * 8)
    return (
        f"{HEADER}class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        f"        {made or 'pass'}\n\n    def forward(self, x):\n{lines}\n"
    )


def others(sizes: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The sizes themselves, with each of them changed, and with the last two changed alike."""
    changed = [(*sizes[:i], n, *sizes[i + 1 :]) for i in range(len(sizes)) for n in (1, 2, 5, 9)]
    return [sizes, *changed, *[(*sizes[:-2], n, n) for n in (5, 9, 16)]]


def shown_by_torch(path: Path, sizes: tuple[int, ...]) -> str:
    """What a trace of a file's ``Net`` shows: "safe", or "hazardous" where it raises or gives something else."""
    module: Any = load(str(path))

    def run(callee: Any, wanted: tuple[int, ...]) -> torch.Tensor:
        torch.manual_seed(len(wanted))
        x = torch.randn(wanted)
        torch.manual_seed(1)
        result: torch.Tensor = callee(x)
        return result

    torch.manual_seed(0)
    net = module.Net().eval()
    torch.manual_seed(0)
    eager = module.Net().eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            torch.manual_seed(1)
            traced = torch.jit.trace(net, (torch.randn(sizes),), check_trace=False)
        except Exception:
            return "hazardous"
        for wanted in others(sizes):
            try:
                expected = run(eager, wanted)
            except Exception:
                continue
            try:
                found = run(traced, wanted)
            except Exception:
                return "hazardous"
            if found.shape != expected.shape or not torch.allclose(found, expected, equal_nan=True):
                return "hazardous"
    return "safe"


@pytest.mark.parametrize("case", CASES)
def test_the_verdict_is_what_torch_shows(tmp_path: Path, case: str) -> None:
    source = source_of(case)
    (tmp_path / "net.py").write_text(source, encoding="utf-8")
    assert verdict(tmp_path, source) == shown_by_torch(tmp_path / "net.py", CASES[case][0])


def test_both_verdicts_are_among_what_torch_shows(tmp_path: Path) -> None:
    seen = set()
    for number, case in enumerate(list(CASES)[:12]):
        path = tmp_path / f"net{number}.py"
        path.write_text(source_of(case), encoding="utf-8")
        seen.add(shown_by_torch(path, CASES[case][0]))
    assert seen == {"safe", "hazardous"}
