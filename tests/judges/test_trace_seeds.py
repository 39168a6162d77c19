"""Random numbers after ``torch.manual_seed``: the trace draws others, whichever function of torch draws them."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.judges.test_trace_consequences import is_traced_right, verdict

DRAWS = {
    "dropout": "F.dropout(x, 0.5, training=True)",
    "dropout of torch": "torch.dropout(x, 0.5, True)",
    "alpha dropout": "F.alpha_dropout(x, 0.5, True)",
    "slopes": "F.rrelu(-x.abs(), training=True)",
    "attention": "F.scaled_dot_product_attention(x, x, x, dropout_p=0.5)",
    "gumbel": "F.gumbel_softmax(x)",
    "initialisers": "x + torch.nn.init.normal_(torch.empty(4))",
    "distributions": "x + torch.distributions.Normal(0.0, 1.0).sample(x.shape)",
    "operators": "x + torch.rand(4)",
}
RESTS = {
    "off by its flag": "F.dropout(x, 0.5, training=False)",
    "off by its default": "F.dropout(x, 0.5, training)",
    "of probability zero": "F.dropout(x, 0.0, training=True)",
    "of no probability": "F.scaled_dot_product_attention(x, x, x)",
    "of constants": "x + torch.nn.init.zeros_(torch.empty(4))",
}


@pytest.mark.parametrize("name", DRAWS)
def test_what_is_drawn_after_a_seed_is_hazardous(tmp_path: Path, name: str) -> None:
    source = forward(DRAWS[name])
    assert verdict(tmp_path, source) == "hazardous"
    assert not is_traced_right(tmp_path, source, torch.ones(1, 8, 4), torch.full((1, 8, 4), 2.0))


@pytest.mark.parametrize("name", RESTS)
def test_what_draws_nothing_is_safe(tmp_path: Path, name: str) -> None:
    source = forward(RESTS[name])
    assert verdict(tmp_path, source) == "safe"
    assert is_traced_right(tmp_path, source, torch.ones(1, 8, 4), torch.full((1, 8, 4), 2.0))


def forward(result: str) -> str:
    return (
        "import torch.nn.functional as F\n\n"
        f"def f(x, training=False):\n    torch.manual_seed(3)\n    return {result}"
    )
