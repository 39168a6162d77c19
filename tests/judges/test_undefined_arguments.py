"""Arguments that default to None without being Optional: some operators take the undefined tensor for None, some raise."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.rules.on_torch import load
from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

CALLS = [
    "F.linear(x, x, w)",
    "F.layer_norm(x, [4], w)",
    "F.cross_entropy(x, x, w)",
    "F.binary_cross_entropy(x, x, w)",
    "F.binary_cross_entropy_with_logits(x, x, w)",
    "F.mse_loss(x, x, weight=w)",
    "F.multilabel_soft_margin_loss(x, x, w)",
    "F.rms_norm(x, [4], w)",
    "F.scaled_dot_product_attention(x, x, x, w)",
    "F.scaled_dot_product_attention(x, x, x, attn_mask=w)",
    "torch.clamp(x, w, x)",
    "torch.diff(x, prepend=w)",
    "torch.cov(x, aweights=w)",
    "torch.searchsorted(x, x, sorter=w)",
]
SOURCE = "import torch\nimport torch.nn.functional as F\n\n\ndef f(x, w=None):\n    return {call}\n"


def shown_by_torch(path: Path) -> str:
    function, x = load(path).f, torch.full((4, 4), 0.5)
    expected = function(x)
    try:
        found = torch.jit.script(function)(x)
    except Exception:
        return "broken"
    return "ok" if torch.allclose(found, expected, equal_nan=True) else "broken"


@pytest.mark.parametrize("call", CALLS)
def test_the_verdict_is_what_torch_shows(tmp_path: Path, call: str) -> None:
    path = tmp_path / "net.py"
    path.write_text(SOURCE.format(call=call))
    project = Project((tmp_path,))
    judged = judge(Program(project), find_target(project.module(path), "f"))
    assert judged.script == shown_by_torch(path)
