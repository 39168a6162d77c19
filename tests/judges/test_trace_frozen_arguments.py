"""Numbers that operators read: of a tensor, or of a size, the trace keeps that of the example; others stay symbolic."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.judges.test_trace_consequences import eager_and_traced, verdict

NET = """\
import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def forward(self, x):
        n = x.size(0)
        return {body}
"""
KEPT = {
    "an eps that is a tensor": "F.layer_norm(x, x.shape[-1:], eps=x.abs().max())",
    "a norm that is a tensor": "torch.cdist(x, x * 2, p=x.abs().max())",
    "a beta that is a tensor": "F.smooth_l1_loss(x, x * 2, beta=x.abs().max())",
    "how far, a tensor": "torch.roll(x, x.abs().max().long(), 1)",
    "a dimension that is a tensor": "x.sum(x.abs().max().long() % 2)",
    "a window that is a tensor": "F.avg_pool1d(x[None], x.abs().max().long())",
    "what is padded with": "F.pad(x, (1, 1), value=n)",
    "what is padded with, a tensor": "F.pad(x, (1, 1), value=x.max())",
    "an eps of a size": "F.layer_norm(x, x.shape[-1:], eps=n)",
}
SYMBOLIC = {
    "a slope": "F.leaky_relu(-x, 1 / n)",
    "a threshold": "F.threshold(x, n, 0.0)",
    "bounds": "F.hardtanh(x * 9, -n, n)",
    "a norm": "F.normalize(x, p=n)",
    "a norm that is a tensor": "F.normalize(x, p=x.abs().max())",
    "an alpha": "F.elu(-x, n)",
    "a factor of a normalisation": "F.local_response_norm(x[None], 2, k=n)",
    "a number that comes first": "torch.mul(n, x)",
    "a quantile": "x.quantile(1 / (n + 1))",
    "a weight that is a tensor": "torch.add(x, x, alpha=n)",
}
CASES = {**{f"keeps {name}": body for name, body in KEPT.items()}, **SYMBOLIC}


@pytest.mark.parametrize("case", CASES)
def test_the_judge_tells_what_is_kept(tmp_path: Path, case: str) -> None:
    expected = "hazardous" if case.startswith("keeps ") else "safe"
    assert verdict(tmp_path, NET.format(body=CASES[case])) == expected


@pytest.mark.parametrize("case", CASES)
def test_a_trace_keeps_it(tmp_path: Path, case: str) -> None:
    example = torch.arange(1.0, 13.0).reshape(3, 4) / 8
    net, traced = eager_and_traced(tmp_path, NET.format(body=CASES[case]), example)
    others = [
        torch.arange(1.0, 4.0 * rows + 1).reshape(rows, 4) / by for rows, by in ((3, 3.0), (5, 9.0), (3, 5.0))
    ]
    alike = all(traced(x).shape == net(x).shape and torch.allclose(traced(x), net(x)) for x in others)
    assert alike == (not case.startswith("keeps "))


UP = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.ConvTranspose1d(1, 1, 3, stride=2, padding=1)

    def forward(self, x):
        n = x.size(-1)
        return self.up(x, output_size=[{size}])
"""


@pytest.mark.parametrize(
    ("size", "expected"),
    [("2 * n", "safe"), ("2 * n - 1", "safe"), ("2 * n - n % 2", "hazardous")],
)
def test_an_output_size_is_kept_unless_it_pads_alike(tmp_path: Path, size: str, expected: str) -> None:
    net, traced = eager_and_traced(tmp_path, UP.format(size=size), torch.ones(1, 1, 4))
    alike = [traced(torch.ones(1, 1, n)).shape == net(torch.ones(1, 1, n)).shape for n in (5, 6, 7)]
    assert all(alike) == (expected == "safe")
    assert verdict(tmp_path, UP.format(size=size)) == expected
