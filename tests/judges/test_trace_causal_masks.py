"""Transformers ask in Python whether a mask is causal, where the call does not say so: the trace keeps the answer."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
import torch
from torch import nn

from tests.judges.test_trace_consequences import verdict
from tests.rules.on_torch import load

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        decoder = nn.TransformerDecoderLayer(4, 1, 8, batch_first=True)
        encoder = nn.TransformerEncoderLayer(4, 1, 8, batch_first=True)
        self.layer = nn.TransformerDecoderLayer(4, 1, 8, batch_first=True)
        self.decoder = nn.TransformerDecoder(decoder, 1)
        self.encoder = nn.TransformerEncoder(encoder, 1)
        self.both = nn.Transformer(4, 1, 1, 1, 8, batch_first=True)
        self.attention = nn.MultiheadAttention(4, 1, batch_first=True)
        self.register_buffer("kept", torch.zeros(3, 3))

    def forward(self, x, mask):
        return {body} + mask.sum() * 0
"""
KEPT = {
    "of an encoder": "self.encoder(x, mask)",
    "of a decoder": "self.decoder(x, x, tgt_mask=mask)",
    "of both, for the source": "self.both(x, x, mask)",
    "of both, for the target": "self.both(x, x, tgt_mask=mask)",
    "made of another": "self.decoder(x, x, mask * 1.0)",
}
GIVEN = {
    "of an encoder that is told": "self.encoder(x, mask, is_causal=False)",
    "of a decoder that is told": "self.decoder(x, x, tgt_mask=mask, tgt_is_causal=False)",
    "for the memory": "self.decoder(x, x, memory_mask=mask)",
    "of one layer": "self.layer(x, x, mask)",
    "of attention": "self.attention(x, x, x, attn_mask=mask)[0]",
    "for each head": "self.decoder(x, x, mask[None].expand(1, 3, 3))",
    "that the module keeps": "self.decoder(x, x, self.kept)",
}
CASES = {**KEPT, **GIVEN}


@pytest.mark.parametrize("case", CASES)
def test_the_judge_tells_of_which_mask_torch_asks(tmp_path: Path, case: str) -> None:
    assert verdict(tmp_path, NET.format(body=CASES[case])) == ("hazardous" if case in KEPT else "safe")


@pytest.mark.parametrize("case", CASES)
def test_a_trace_leaves_out_a_causal_mask(tmp_path: Path, case: str) -> None:
    path = tmp_path / "net.py"
    path.write_text(NET.format(body=CASES[case]), encoding="utf-8")
    torch.manual_seed(0)
    net, x = load(str(path)).Net().eval(), torch.randn(1, 3, 4)
    causal = nn.Transformer.generate_square_subsequent_mask(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        traced = torch.jit.trace(net, (x, causal), check_trace=False)
    other = torch.tensor([[0.0, -2.0, 0.0]]).expand(3, 3)
    wanted, found = net(x, other), traced(x, other)
    is_alike = torch.allclose(wanted[~wanted.isnan()], found[~wanted.isnan()], atol=1e-5)
    assert is_alike == (case in GIVEN)
