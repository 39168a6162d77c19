"""Sizes are tensors while tracing: augmented assignments change them under all their names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.judges.test_trace_consequences import eager_and_traced, verdict

NET = """\
import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 6)

    def one_more(self, n):
        n += 1
        return n

    def forward(self, x):
        {body}
"""


def _lines(*lines: str) -> str:
    return "\n        ".join(lines)


SHARED = {
    "another name": "end = x.size(1); start = end; start -= 2; return x[:, start:end]",
    "assigned at once": "h = w = x.size(0); h //= 2; return torch.zeros(h, w)",
    "names of each": "h, w = x.shape; a, b = h, w; a += 2; return torch.zeros(a, b), torch.zeros(h)",
    "kept in a list": _lines(
        "sizes = []",
        "n = x.size(1)",
        "for _ in range(2):",
        "    sizes.append(n); n //= 2",
        "return [x[:, :k] for k in sizes]",
    ),
    "a sum that is kept": _lines(
        "n = 0",
        "starts = []",
        "for part in (x, x, x):",
        "    n += part.size(0); starts.append(n)",
        "return x * starts[0]",
    ),
    "a place to begin": _lines(
        "at = 0",
        "spans = []",
        "for k in (x.size(1) // 2, x.size(1) - x.size(1) // 2):",
        "    spans.append((at, at + k)); at += k",
        "return torch.cat([x[:, a:b] for a, b in spans[::-1]], 1)",
    ),
    "a parameter of a function": "n = x.size(0); m = self.one_more(n); return torch.zeros(m, n)",
    "an item of a shape": "s = x.shape; n = s[0]; n += 1; return torch.zeros(n), torch.zeros(s[0])",
    "an item of a list of it": "s = x.shape; new = list(s); new[-1] //= 2; return x[:, :new[-1]] / s[-1]",
    "an item of a dict": 'd = {"n": x.size(0)}; n = d["n"]; n += 1; return torch.zeros(n, d["n"])',
    "twice in a list": "a = [x.size(0)] * 2; a[0] += 1; return torch.zeros(a)",
    "a size that a layer gives": "y = self.linear(x); c = y.shape[-1]; half = c; half //= 2; return y[..., half:c]",
    "on the way that returns": _lines(
        "h = x.size(1); w = h", "if x.dim() == 2:", "    h //= 2", "    return x[:, h:w]", "return x[:, :w]"
    ),
    "after a branch": _lines("h = x.size(1); w = h", "if x.dim() == 2:", "    h //= 2", "return x[:, h:w]"),
}
FLOATS = {
    "a product with a float": "n = x.size(0); n *= 0.5; return x * n",
    "a quotient": "n = x.numel(); n /= x.shape[0]; return x * n",
    "a root": "n = x.size(-1); n **= -0.5; return x * n",
    "a mean of sizes": "n = 0; n += x.size(0); n /= 2; return x * n",
    "a negative power": "return x * x.size(0) ** -1",
}
RIGHT = {
    "one name": "n = x.size(0); n //= 2; n *= 2; return x[:n]",
    "two sizes": "h, w = x.shape; h //= 2; w //= 2; return x[:h, :w]",
    "asked for anew": "s = x.shape; n = x.shape[0]; n += 1; return torch.zeros(n), torch.zeros(x.shape[0]), x.reshape(s)",
    "a new number": "n = x.size(0); m = n; n = n + 1; n += 1; return torch.zeros(n), torch.zeros(m)",
    "a list of its own": "s = list(x.shape); s[1] += 1; return torch.zeros(s)",
    "a sum": _lines("n = 0", "for part in (x, x):", "    n += part.size(0)", "return x / n"),
    "a float": "n = x.size(0) / 2; n /= 2; return x * n",
    "a negative power as a float": "return x * x.size(0) ** -1.0",
    "another branch": _lines(
        "h = x.size(1); w = h", "if x.dim() == 1:", "    h //= 2", "    return x[:h]", "return x[:, :w]"
    ),
    "numbers": "n = 3; m = n; n += 1; return x * m",
}
CASES = {**SHARED, **FLOATS, **RIGHT}


@pytest.mark.parametrize("case", CASES)
def test_the_judge_tells_what_changes(tmp_path: Path, case: str) -> None:
    expected = "safe" if case in RIGHT else "hazardous"
    assert verdict(tmp_path, NET.format(body=CASES[case])) == expected


@pytest.mark.parametrize("case", CASES)
def test_a_trace_agrees(tmp_path: Path, case: str) -> None:
    source, example = NET.format(body=CASES[case]), torch.arange(24.0).reshape(6, 4)
    if case in FLOATS:
        with pytest.raises(RuntimeError):
            eager_and_traced(tmp_path, source, example)
    else:
        net, traced = eager_and_traced(tmp_path, source, example)
        assert _alike(traced(example), net(example)) == (case in RIGHT)


def _alike(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, (list, tuple)):
        return all(map(_alike, found, wanted))
    return found.shape == wanted.shape and torch.allclose(found, wanted)
